// Work that follows an answer: a change asks for it here and waits for nothing. It only makes things sooner. What must happen is
// in an outbox, and without any of this the minute cron does it (schedule.ts).
import { secondMs, type Instant } from "../../core/time.ts";
import { afterAnswerAllowance, within } from "../operations/allowance.ts";
import { failingAlone } from "../log.ts";
import type { Platform, Schedules } from "../services.ts";
import { notifyAudit } from "./audit-notify.ts";
import { placeEvents } from "./event-sweep.ts";
import { relayMail } from "./mail-relay.ts";
import { relayOutbox } from "./outbox-relay.ts";

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const lostAfter = 10; // times the wait: work this late was ended by the platform together with the request that was to do it

/** Whoever asks within `ms` of another is served by the same work: at 300 submissions a second, 600 of them share one of two seconds. */
const gathered = (platform: Platform, ms: number, work: () => Promise<void>): (() => void) => {
  let dueAt: Instant | null = null;
  return () => {
    const now = platform.clock();
    if (dueAt !== null && now < dueAt + lostAfter * ms) return;
    dueAt = now + ms;
    platform.afterAnswer(async () => {
      await after(ms);
      dueAt = null; // from here on a new change needs new work
      await work();
    });
  };
};

const notifyLogs = async (platform: Platform): Promise<void> => {
  await notifyAudit(platform);
  await failingAlone(platform, "queue", platform.notifyAnchoring); // where it fails, the cron finds the rows
};

const lostRelayMs = 60 * secondMs; // a relay this old was ended by the platform and could not say so

/** One relay at a time in an isolate: a thousand submissions a second ask for one piece of work, not for a thousand. */
const openRelay = (platform: Platform): (() => Promise<void>) => {
  let underWaySince: Instant | null = null;
  /** Somebody asked while a relay was under way: it may have looked before their row was there. */
  let askedAgain = false;
  return async () => {
    askedAgain = true;
    const startedAt = platform.clock();
    if (underWaySince !== null && startedAt - underWaySince < lostRelayMs) return;
    underWaySince = startedAt;
    try {
      const allowed = within(platform, afterAnswerAllowance); // what is left then is the cron's
      while (askedAgain && (await allowed.goesOn())) {
        askedAgain = false;
        await relayOutbox(allowed);
      }
    } finally {
      underWaySince = null;
    }
  };
};

const answeredMs = 100; // by then the answer is out, and how long it took says nothing of whether a mail is sent

/** Once for each platform: what is gathered and what is under way belongs to all its requests together. */
export const openSchedules = (platform: Platform): Schedules => {
  const relay = openRelay(platform);
  return {
    scheduleFollowUp: gathered(platform, platform.config.gatherMs, () => notifyLogs(platform)),
    scheduleMail: gathered(platform, answeredMs, () => relayMail(within(platform, afterAnswerAllowance))),
    scheduleRelay: () => platform.afterAnswer(relay),
    scheduleEvents: (businessId, environment) => platform.afterAnswer(() => placeEvents(platform, businessId, environment)),
  };
};
