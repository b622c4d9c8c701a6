// Sends what the mail outboxes hold: right after an answer, and each minute for whatever is left. At least once; a repeat
// carries the same id. What cannot be sent within its life is dropped, and the log says so without saying to whom.
import { composeMail, type MailOutcome } from "../../core/mail/message.ts";
import { renderMail } from "../../core/mail/render.ts";
import { computeRetryDelayMs } from "../../core/retry.ts";
import { minuteMs, secondMs } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { listCapturedMail, type CapturedMail } from "../../storage/captured-mail.ts";
import { claimMail, deleteMail, hasMailInProgress, openMail, postponeMail, type DueMail } from "../../storage/outboxes/mail.ts";
import { runIsolated } from "../log.ts";
import { waitUntilBudget, withBudget } from "../operations/work-budget.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";
import { forEachConcurrently } from "./in-parallel.ts";

const maxConcurrent = 5; // a Worker may wait for six connections; one stays free
const backoff = { firstMs: 15 * secondMs, maxMs: 30 * minuteMs };

const attemptSend = async (platform: Platform, due: DueMail): Promise<MailOutcome | "nobody"> => {
  const mail = await openMail(platform.vault, due);
  if (mail.to === null) return "nobody";
  const envelope = { id: due.id, to: mail.to, from: platform.config.mail.from, language: mail.language };
  return platform.mailer.send(composeMail(envelope, renderMail(mail.language, mail)));
};

const deliverMail = async (platform: Platform, db: Database, due: DueMail): Promise<void> => {
  const now = platform.clock();
  // A row that does not open is tried again: the key it needs may be on its way back.
  const outcome = due.giveUpAt <= now ? "given up" : ((await runIsolated(platform, "mail", () => attemptSend(platform, due))) ?? "later");
  if (outcome === "refused" || outcome === "given up") platform.log.error({ at: "mail", error: outcome });
  await (outcome === "later" ? postponeMail(db, due.id, now + computeRetryDelayMs(backoff, due.attempts)) : deleteMail(db, due.id)).run();
};

/** Claimed as many at once as are sent at once, until none is due or the allowance is used up. */
async function* claimDueMail(platform: Platform, db: Database): AsyncGenerator<DueMail> {
  while (await platform.hasBudget()) {
    const due = await claimMail(db, platform.clock(), maxConcurrent);
    yield* due;
    if (due.length < maxConcurrent) return; // there were no more, and whoever writes one now asks for a relay of its own
  }
}

export const relayMail = (platform: Platform): Promise<void> =>
  forEachShard(platform, "mail", (db) =>
    forEachConcurrently(maxConcurrent, claimDueMail(platform, db), (mail) => deliverMail(platform, db, mail)),
  );

const maxPolls = 400;
const pollEveryMs = 25;

/**
 * What development would have sent, newest first; it is kept in `store`. Sends what is due, and waits ten seconds at most for
 * what another is sending, so that whoever has just asked for a mail finds it here.
 */
export const loadCapturedMail = async (platform: Platform, store: Database, to: string | null): Promise<readonly CapturedMail[]> => {
  await relayMail(withBudget(platform, waitUntilBudget));
  for (const [, db] of platform.shards.all()) {
    for (let polls = 0; polls < maxPolls && (await hasMailInProgress(db, platform.clock())); polls += 1)
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
  return listCapturedMail(store, platform.vault, to);
};
