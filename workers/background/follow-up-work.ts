// Work that follows a response. A request asks for it and does not wait. It only makes things happen sooner: whatever must happen is in
// an outbox, and the minute cron does it if this does not (schedule.ts).
import { secondMs, type Instant } from "../../core/time.ts";
import { runIsolated } from "../log.ts";
import { waitUntilBudget, withBudget } from "../operations/work-budget.ts";
import type { Schedules } from "../operations/dependencies.ts";
import type { Platform, Services } from "../platform/platform.ts";
import { requestAuditDrains } from "./audit-drain-requests.ts";
import { drainEvents } from "./event-sweep.ts";
import { relayMail } from "./mail-relay.ts";
import { relayOutbox } from "./outbox-relay.ts";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const lostAfterFactor = 10; // work this many delays late was ended by the platform together with the request that was to run it

/** Calls within `ms` of the first share one run of `work`: at 300 submissions a second, a delay of two seconds serves 600 of them. */
const coalesce = (platform: Platform, ms: number, work: () => Promise<void>): (() => void) => {
  let dueAt: Instant | null = null;
  return () => {
    const now = platform.clock();
    if (dueAt !== null && now < dueAt + lostAfterFactor * ms) return;
    dueAt = now + ms;
    platform.waitUntil(async () => {
      await sleep(ms);
      dueAt = null; // a change from here on needs another run
      await work();
    });
  };
};

const requestLogWork = async (platform: Platform): Promise<void> => {
  await requestAuditDrains(platform);
  await runIsolated(platform, "anchor-queue", platform.requestAnchoring); // if this fails, the cron finds the rows
};

const staleRelayMs = 60 * secondMs; // the platform ended a relay this old without letting it finish

/** Runs one relay at a time per isolate, however many submissions ask for one. */
const createRelay = (platform: Platform): (() => Promise<void>) => {
  let runningSince: Instant | null = null;
  /** Set by each call: a relay under way may have read before the caller's row was committed. */
  let isRequested = false;
  return async () => {
    isRequested = true;
    const startedAt = platform.clock();
    if (runningSince !== null && startedAt - runningSince < staleRelayMs) return;
    runningSince = startedAt;
    try {
      const limited = withBudget(platform, waitUntilBudget); // the cron does whatever is left
      while (isRequested && (await limited.hasBudget())) {
        isRequested = false;
        await relayOutbox(limited);
      }
    } finally {
      runningSince = null;
    }
  };
};

const mailDelayMs = 100; // the response is out by then, so its duration does not reveal whether a mail is sent

/** Create once per platform: requests share what is coalesced and what is running. */
export const createSchedules = (platform: Platform): Schedules => {
  const relay = createRelay(platform);
  return {
    scheduleFollowUp: coalesce(platform, platform.config.batchWindowMs, () => requestLogWork(platform)),
    scheduleMail: coalesce(platform, mailDelayMs, () => relayMail(withBudget(platform, waitUntilBudget))),
    scheduleRelay: () => platform.waitUntil(relay),
    scheduleEvents: (businessId, environment) => platform.waitUntil(() => drainEvents(platform, businessId, environment)),
  };
};

/** For jobs that run operations of requests, which schedule follow-up work. */
export const withSchedules = (platform: Platform): Services =>
  Object.assign(Object.create(platform) as Platform, createSchedules(platform));
