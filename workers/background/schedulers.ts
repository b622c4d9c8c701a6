// Work that follows an answer: a change asks for it here and waits for nothing. It only makes things sooner. What must happen is
// in an outbox, and without any of this the minute cron does it (schedule.ts).
import { secondMs, type Instant } from "../../core/time.ts";
import { waitUntilBudget, withBudget } from "../operations/work-budget.ts";
import { runIsolated } from "../log.ts";
import type { Schedules } from "../operations/dependencies.ts";
import type { Platform } from "../services.ts";
import { requestAuditDrains } from "./audit-drain-requests.ts";
import { placeEvents } from "./event-sweep.ts";
import { relayMail } from "./mail-relay.ts";
import { relayOutbox } from "./outbox-relay.ts";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const lostAfterFactor = 10; // times the wait: work this late was ended by the platform together with the request that was to do it

/** Whoever asks within `ms` of another is served by the same work: at 300 submissions a second, 600 of them share one of two seconds. */
const coalesce = (platform: Platform, ms: number, work: () => Promise<void>): (() => void) => {
  let dueAt: Instant | null = null;
  return () => {
    const now = platform.clock();
    if (dueAt !== null && now < dueAt + lostAfterFactor * ms) return;
    dueAt = now + ms;
    platform.waitUntil(async () => {
      await sleep(ms);
      dueAt = null; // from here on a new change needs new work
      await work();
    });
  };
};

const requestLogWork = async (platform: Platform): Promise<void> => {
  await requestAuditDrains(platform);
  await runIsolated(platform, "queue", platform.requestAnchoring); // where it fails, the cron finds the rows
};

const staleRelayMs = 60 * secondMs; // a relay this old was ended by the platform and could not say so

/** One relay at a time in an isolate: a thousand submissions a second ask for one piece of work, not for a thousand. */
const createRelay = (platform: Platform): (() => Promise<void>) => {
  let underWaySince: Instant | null = null;
  /** Somebody asked while a relay was under way: it may have looked before their row was there. */
  let askedAgain = false;
  return async () => {
    askedAgain = true;
    const startedAt = platform.clock();
    if (underWaySince !== null && startedAt - underWaySince < staleRelayMs) return;
    underWaySince = startedAt;
    try {
      const allowed = withBudget(platform, waitUntilBudget); // what is left then is the cron's
      while (askedAgain && (await allowed.hasBudget())) {
        askedAgain = false;
        await relayOutbox(allowed);
      }
    } finally {
      underWaySince = null;
    }
  };
};

const mailDelayMs = 100; // by then the answer is out, and how long it took says nothing of whether a mail is sent

/** Once for each platform: what is gathered and what is under way belongs to all its requests together. */
export const createSchedules = (platform: Platform): Schedules => {
  const relay = createRelay(platform);
  return {
    scheduleFollowUp: coalesce(platform, platform.config.batchWindowMs, () => requestLogWork(platform)),
    scheduleMail: coalesce(platform, mailDelayMs, () => relayMail(withBudget(platform, waitUntilBudget))),
    scheduleRelay: () => platform.waitUntil(relay),
    scheduleEvents: (businessId, environment) => platform.waitUntil(() => placeEvents(platform, businessId, environment)),
  };
};
