// What each cron tick does. Every job is driven by what is due, not by the tick: a missed tick is late work, a doubled
// tick is no work.
import type { Instant } from "../../core/time.ts";
import { attestDue } from "../operations/attestations.ts";
import { checkpointAudit, checkpointLedger, kickAudit } from "../operations/checkpoints.ts";
import { dropExpired } from "../operations/expiry.ts";
import { submitAnchors, unpark } from "../operations/ledger.ts";
import { relayMail } from "../operations/mail.ts";
import { sweepEvents } from "../operations/events.ts";
import { relayOutbox } from "../operations/outbox.ts";
import type { Platform } from "../services.ts";

export const everyMinute = "* * * * *";
const everyQuarter = "*/15 * * * *";

/** `at` is the tick's own time: a window belongs to the tick, however late it runs. */
export const scheduled = async (platform: Platform, cron: string, at: Instant): Promise<void> => {
  if (cron === everyQuarter) {
    await unpark(platform);
    await checkpointAudit(platform, at);
    await checkpointLedger(platform, at);
    await attestDue(platform);
  }
  if (cron !== everyMinute) return;
  await kickAudit(platform);
  await dropExpired(platform);
  // side by side: no slow ledger, attestor, mail provider or policy host keeps the others waiting
  await Promise.all([relayOutbox(platform), submitAnchors(platform), relayMail(platform), sweepEvents(platform), attestDue(platform)]);
};
