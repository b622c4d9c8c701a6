// The mail outbox. A row is written in the batch of the change that causes the email, with its address and content sealed. The email is
// rendered when it is sent. The row is deleted once a transport has accepted the email, and moved to the failed emails if it will not be
// sent.
import { eq, gt, inArray, sql, type SQL } from "drizzle-orm";
import type { CertId, ConsumerId } from "../../core/ids.ts";
import { isEmailAddress } from "../../core/email-address.ts";
import { mailLifetimeMs, type TemplatedMail, type MailLanguage } from "../../core/mail/templates.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Database, Found, Statement } from "../database.ts";
import { mailOutbox } from "../schema.ts";
import { insertIf, bulkInsert } from "../inserts.ts";
import { allOf, query } from "../query.ts";
import { selfOwnedContext, type Vault } from "../vault.ts";

const leaseMs = 60 * secondMs; // longer than a transport's 10 s, so that two workers never send the same email

const messageContext = selfOwnedContext("mail_outbox", "message");

/**
 * If `to` is null, the row causes the same work but is dropped instead of sent. Requests for unknown addresses therefore look like all
 * other requests.
 */
export type NewMail = TemplatedMail & {
  readonly to: string | null;
  /** The language of the email; English by default. */
  readonly language?: MailLanguage;
  readonly now: Instant;
  /** The certificate whose person the email is for. Erasing that person's data deletes the unsent email. */
  readonly certId?: CertId;
  /** The consumer that the email is for. Erasing the account deletes the unsent email. */
  readonly consumerId?: ConsumerId;
  /** The invitation or email code that the email delivers. If the email fails, the failure is shown with that invitation or code. */
  readonly entityId?: string;
  /** If given, the row is written only if this condition is true in the batch. */
  readonly onlyIf?: SQL;
};

/** The decrypted content of a row. */
type OpenedMail = TemplatedMail & { readonly to: string | null; readonly language: MailLanguage };

const toMailRow = async (vault: Vault, mail: NewMail) => {
  if (mail.to !== null && !isEmailAddress(mail.to)) throw new Error("mail: the recipient is not a single email address");
  const id = crypto.randomUUID();
  const { to, template, data, language = "en", now, certId, consumerId, entityId } = mail;
  const messageSealed = await vault.seal(messageContext(id), JSON.stringify({ to, template, data, language }));
  return {
    id,
    template,
    messageSealed,
    nextAt: now,
    giveUpAt: now + mailLifetimeMs[template],
    createdAt: now,
    certId,
    consumerId,
    entityId,
  };
};

/** Returns the statements to add to the change's batch. Throws when `to` is not an email address. */
export const insertMail = async (db: Database, vault: Vault, mail: NewMail): Promise<readonly Statement[]> => [
  insertIf(db, mailOutbox, await toMailRow(vault, mail), mail.onlyIf ?? sql`true`),
];

const insertMailRows = bulkInsert(mailOutbox, ["id", "template", "messageSealed", "nextAt", "giveUpAt", "createdAt", "consumerId"]);

/** A sealed email that is not about a certificate and is not saved yet. */
export type SealedMail = Parameters<typeof insertMailRows>[1][number];

export const sealMail = (vault: Vault, mail: Omit<NewMail, "onlyIf" | "certId">): Promise<SealedMail> => toMailRow(vault, mail as NewMail);

/** Inserts any number of emails with one statement. */
export const insertMails = (db: Database, mails: readonly SealedMail[]): Statement => insertMailRows(db, mails);

const { ord, id, template, messageSealed: sealed, attempts, nextAt, giveUpAt } = mailOutbox;

/** The number of emails that a claim examines. More emails than this wait for their next attempt only if the provider is down. */
const maxLookedAt = 1_500;

/**
 * Claims up to `max` due emails. Emails that expire soonest come first, so that a code is sent before thousands of warnings. Concurrent
 * workers get different rows. Examines only the 1,500 emails that expire soonest, whether due or not, so that the cost stays the same when
 * thousands of emails wait for their next attempt.
 */
export const claimMail = (db: Database, now: Instant, max: number) => {
  const soonest = query.select({ ord, giveUpAt, nextAt }).from(mailOutbox).orderBy(giveUpAt, ord).limit(maxLookedAt);
  const due = sql`(select ord from ${soonest} where next_at <= ${now} order by give_up_at, ord limit ${max})`;
  return db
    .update(mailOutbox)
    .set({ nextAt: now + leaseMs, attempts: sql`${attempts} + 1` })
    .where(inArray(ord, due))
    .returning({ ord, id, template, sealed, attempts, giveUpAt })
    .all();
};

export type DueMail = Found<typeof claimMail>[number];

export const openMail = (vault: Vault, due: DueMail): Promise<OpenedMail> => openMailContent(vault, due.id, due.sealed);

/**
 * Opens the content of an email in the outbox or among the failed emails. An email keeps its ID, and therefore its encryption context, when
 * it moves between the two tables.
 */
export const openMailContent = async (vault: Vault, mail: string, messageSealed: string): Promise<OpenedMail> =>
  JSON.parse(await vault.open(messageContext(mail), messageSealed)) as OpenedMail;

/** Deletes an email that a transport has accepted or that has no recipient. */
export const deleteMail = (db: Database, mail: DueMail) => db.delete(mailOutbox).where(eq(ord, mail.ord));

/** Schedules the next attempt for `at`. */
export const postponeMail = (db: Database, mail: DueMail, at: Instant) =>
  db.update(mailOutbox).set({ nextAt: at }).where(eq(ord, mail.ord));

/**
 * Returns whether an email is being sent for the first time, for the development mailbox. Claiming an email makes it due at the end of the
 * lease, which is later than the retry after a failed first attempt. Half the lease therefore separates the two cases.
 */
export const hasMailInProgress = async (db: Database, now: Instant): Promise<boolean> => {
  const sending = await db
    .select({ id })
    .from(mailOutbox)
    .where(allOf(eq(attempts, 1), gt(nextAt, now + leaseMs / 2)))
    .limit(1);
  return sending.length > 0;
};
