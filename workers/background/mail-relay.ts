// Sends the emails in the outboxes, right after a response and every minute. An email can be sent more than once, but always with the same
// ID. If the provider refuses an email, or the email cannot be sent in time, the relay moves it to the failed emails and logs the reason
// without the recipient.
import { composeMail } from "../../core/mail/compose.ts";
import type { MailFailureReason, MailOutcome } from "../../core/mail/message.ts";
import { renderMail } from "../../core/mail/render.ts";
import { computeRetryDelayMs } from "../../core/retry.ts";
import { minuteMs, secondMs, type Instant } from "../../core/time.ts";
import { batch, type Database } from "../../storage/database.ts";
import { failMail } from "../../storage/failed-mail.ts";
import { claimMail, deleteMail, openMail, postponeMail, type DueMail } from "../../storage/outboxes/mail.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { writeOwnerEmails } from "./owner-emails.ts";
import { forEachConcurrently, maxConcurrentConnections } from "./for-each-concurrently.ts";
import { forEachShard } from "./for-each-shard.ts";

const backoff = { firstMs: 15 * secondMs, maxMs: 30 * minuteMs };

const attemptSend = async (platform: Platform, due: DueMail, now: Instant): Promise<MailOutcome | MailFailureReason | "no recipient"> => {
  const mail = await openMail(platform.vault, due);
  if (mail.to === null) return "no recipient";
  if (due.giveUpAt <= now) return "expired";
  const { config, mailer } = platform;
  const envelope = { id: due.id, to: mail.to, from: config.mail.from, language: mail.language };
  return mailer.send(composeMail(envelope, renderMail(mail.language, mail, config)));
};

const deliverMail = async (platform: Platform, db: Database, due: DueMail): Promise<void> => {
  const now = platform.clock();
  // Retry an email that cannot be decrypted, because an operator may still restore its key.
  const outcome =
    (await runIsolated(platform, "mail", () => attemptSend(platform, due, now))) ?? (due.giveUpAt <= now ? "expired" : "later");
  if (outcome === "accepted" || outcome === "no recipient") await deleteMail(db, due).run();
  else if (outcome === "later") await postponeMail(db, due, now + computeRetryDelayMs(backoff, due.attempts)).run();
  else {
    platform.log.error({ at: "mail", error: outcome });
    await batch(db, failMail(db, due, outcome, now));
  }
};

/** Claims emails in groups that can be sent concurrently, until all due emails are claimed or the budget is used up. */
async function* claimDueMail(platform: Platform, db: Database): AsyncGenerator<DueMail> {
  while (await platform.hasBudget()) {
    const due = await claimMail(db, platform.clock(), maxConcurrentConnections);
    yield* due;
    // No more emails were due. An email that is written from now on schedules its own relay.
    if (due.length < maxConcurrentConnections) return;
  }
}

/**
 * For each shard, first writes the emails for due notices to owners. Then sends due emails, five at a time, until all are sent or the
 * budget is used up.
 */
export const relayMail = (platform: Platform): Promise<void> =>
  forEachShard(platform, "mail", async (db) => {
    await runIsolated(platform, "owner emails", () => writeOwnerEmails(platform, db));
    await forEachConcurrently(maxConcurrentConnections, claimDueMail(platform, db), (mail) => deliverMail(platform, db, mail));
  });
