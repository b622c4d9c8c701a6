// Schedules work to run after a response, so that it does not wait for the next cron run. Work that must happen is always in an outbox or
// in the change log. The cron processes both every minute (schedule.ts).
import { secondMs, type Instant } from "../../core/time.ts";
import { runIsolated } from "../log.ts";
import { waitUntilBudget, withBudget } from "../operations/work-budget.ts";
import type { Schedules } from "../operations/dependencies.ts";
import type { Platform, Services } from "../platform/platform.ts";
import { requestAuditDrains } from "./audit-drain-requests.ts";
import { countCertificates } from "./certificate-counting.ts";
import { drainEvents } from "./event-sweep.ts";
import { relayMail } from "./mail-relay.ts";
import { relayOutbox } from "./outbox-relay.ts";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

// A multiple of the delay. If the work has still not started this long after it was due, the platform has ended the request that scheduled
// it, and the next call schedules the work again.
const lostAfterFactor = 10;

/**
 * Returns a function that runs `work` once for all calls within `ms` of the first one. With 300 submissions per second and a delay of two
 * seconds, one run serves 600 submissions.
 */
const coalesce = (platform: Platform, ms: number, work: () => Promise<void>): (() => void) => {
  let dueAt: Instant | null = null;
  return () => {
    const now = platform.clock();
    if (dueAt !== null && now < dueAt + lostAfterFactor * ms) return;
    dueAt = now + ms;
    platform.waitUntil(async () => {
      await sleep(ms);
      dueAt = null; // changes from now on need another run
      await work();
    });
  };
};

const requestLogWork = async (platform: Platform): Promise<void> => {
  await requestAuditDrains(platform);
  await runIsolated(platform, "anchor-queue", platform.requestAnchoring); // if this fails, the cron submits the statements
  await countCertificates(platform);
};

const staleRelayMs = 60 * secondMs; // the platform has ended any relay that started longer ago

/** Creates the function that runs the outbox relay. In each isolate, only one relay runs at a time, even if many submissions request it. */
const createRelay = (platform: Platform): (() => Promise<void>) => {
  let runningSince: Instant | null = null;
  /** True if there was a call since the last read of the outbox. That read may have missed the caller's row, so the relay reads again. */
  let isRequested = false;
  return async () => {
    isRequested = true;
    const startedAt = platform.clock();
    if (runningSince !== null && startedAt - runningSince < staleRelayMs) return;
    runningSince = startedAt;
    try {
      const limited = withBudget(platform, waitUntilBudget); // the cron does the work that is left
      while (isRequested && (await limited.hasBudget())) {
        isRequested = false;
        await relayOutbox(limited);
      }
    } finally {
      runningSince = null;
    }
  };
};

const mailDelayMs = 100; // sending starts after the response, so that the response time does not reveal whether an email is sent

/** Creates the functions that schedule follow-up work. Call this once per platform, because requests share scheduled and running work. */
export const createSchedules = (platform: Platform): Schedules => {
  const relay = createRelay(platform);
  return {
    scheduleFollowUp: coalesce(platform, platform.config.batchWindowMs, () => requestLogWork(platform)),
    scheduleMail: coalesce(platform, mailDelayMs, () => relayMail(withBudget(platform, waitUntilBudget))),
    scheduleRelay: () => platform.waitUntil(relay),
    scheduleEvents: (businessId, environment) => platform.waitUntil(() => drainEvents(platform, businessId, environment)),
  };
};

/** Returns the platform with the functions that schedule follow-up work, for jobs that call operations. */
export const withSchedules = (platform: Platform): Services =>
  Object.assign(Object.create(platform) as Platform, createSchedules(platform));
