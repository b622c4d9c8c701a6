// Does what the outboxes hold. Called right after an answer and by the minute cron; safe to call at any time, from
// anywhere, twice at once.
import { secondMs, type Instant } from "../../core/time.ts";
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";
import type { Database } from "../../storage/database.ts";
import { claimWithdrawalWork } from "../../storage/withdrawal-work.ts";
import { capturePolicies } from "./policies.ts";
import { continueWithdrawals } from "./withdrawals/continue.ts";

const mostBatches = 50; // a thousand certificates of one person a minute; the rest keeps its row

const finishWithdrawals = async (platform: Platform, db: Database): Promise<void> => {
  for (let batch = 0; batch < mostBatches; batch += 1) {
    const work = await claimWithdrawalWork(db, platform.clock());
    if (work === null) return;
    await continueWithdrawals(platform, db, work);
  }
};

/** Every home in turn; a home that fails does not keep the others waiting. */
export const relayOutbox = async (platform: Platform): Promise<void> => {
  for (const [, db] of platform.homes.all()) {
    for (const work of [finishWithdrawals, capturePolicies]) {
      try {
        await work(platform, db);
      } catch (error) {
        platform.log.fault({ at: "outbox", error: kindOfError(error) }); // the rows stay, the next minute tries again
      }
    }
  }
};

interface Relay {
  /** When the relay under way began; null when there is none. */
  startedAt: Instant | null;
  /** Somebody asked while a relay was under way: it may have looked before their row was there. */
  askedAgain: boolean;
}
const relays = new WeakMap<Platform, Relay>();

const longestRelayMs = 15 * secondMs; // the platform ends work 30 s after its answer; what is left then is the cron's
const abandonedMs = 60 * secondMs; // a relay this old was ended by the platform and could not say so

/** One relay at a time in an isolate: a thousand submissions a second ask for one piece of work, not for a thousand. */
export const relaySoon = async (platform: Platform): Promise<void> => {
  const relay = relays.get(platform) ?? { startedAt: null, askedAgain: false };
  relays.set(platform, relay);
  relay.askedAgain = true;
  const startedAt = platform.clock();
  if (relay.startedAt !== null && startedAt - relay.startedAt < abandonedMs) return;
  relay.startedAt = startedAt;
  try {
    while (relay.askedAgain && platform.clock() - startedAt < longestRelayMs) {
      relay.askedAgain = false;
      await relayOutbox(platform);
    }
  } finally {
    relay.startedAt = null;
  }
};
