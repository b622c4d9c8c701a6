// The mail outbox: a row in the batch of the change that causes the email, with address and contents sealed. The message is rendered when
// it is sent. The row is deleted when a transport has accepted it or it is of no use any more.
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

const leaseMs = 60 * secondMs; // longer than a transport's 10 s, so that no two workers send the same email

const messageContext = selfOwnedContext("mail_outbox", "message");

/** With `to` null the row costs the same work and is dropped unsent, so that requests for unknown addresses look like any other. */
export type NewMail = TemplatedMail & {
  readonly to: string | null;
  /** English by default. */
  readonly language?: MailLanguage;
  readonly now: Instant;
  /** The certificate whose person it is for: erasing the person deletes the unsent email. */
  readonly certId?: CertId;
  /** The consumer it is for: erasing the account deletes the unsent email. */
  readonly consumerId?: ConsumerId;
  /** Condition in the batch under which the row is written. */
  readonly onlyIf?: SQL;
};

/** The opened content of a row. */
type OpenedMail = TemplatedMail & { readonly to: string | null; readonly language: MailLanguage };

const toMailRow = async (vault: Vault, mail: NewMail) => {
  if (mail.to !== null && !isEmailAddress(mail.to)) throw new Error("mail: the recipient is not a single email address");
  const id = crypto.randomUUID();
  const { to, template, data, language = "en", now, certId, consumerId } = mail;
  const messageSealed = await vault.seal(messageContext(id), JSON.stringify({ to, template, data, language }));
  return { id, template, messageSealed, nextAt: now, giveUpAt: now + mailLifetimeMs[template], createdAt: now, certId, consumerId };
};

/** The statements for the batch of the change. Throws when `to` is not an email address. */
export const insertMail = async (db: Database, vault: Vault, mail: NewMail): Promise<readonly Statement[]> => [
  insertIf(db, mailOutbox, await toMailRow(vault, mail), mail.onlyIf ?? sql`true`),
];

const insertMailRows = bulkInsert(mailOutbox, ["id", "template", "messageSealed", "nextAt", "giveUpAt", "createdAt", "consumerId"]);

/** A sealed email that is about no certificate and not saved yet. */
export type SealedMail = Parameters<typeof insertMailRows>[1][number];

export const sealMail = (vault: Vault, mail: Omit<NewMail, "onlyIf" | "certId">): Promise<SealedMail> => toMailRow(vault, mail as NewMail);

/** Any number of emails as one statement. */
export const insertMails = (db: Database, mails: readonly SealedMail[]): Statement => insertMailRows(db, mails);

const { ord, id, messageSealed: sealed, attempts, nextAt, giveUpAt } = mailOutbox;

/**
 * Takes up to `max` due emails, those that expire soonest first: a code goes before thousands of warnings. Concurrent workers get different
 * rows. The unary plus makes SQLite use the index in that order instead of sorting everything that is due.
 */
export const claimMail = (db: Database, now: Instant, max: number) =>
  db
    .update(mailOutbox)
    .set({ nextAt: now + leaseMs, attempts: sql`${attempts} + 1` })
    .where(inArray(ord, query.select({ ord }).from(mailOutbox).where(sql`+${nextAt} <= ${now}`).orderBy(giveUpAt, ord).limit(max)))
    .returning({ id, sealed, attempts, giveUpAt })
    .all();

export type DueMail = Found<typeof claimMail>[number];

export const openMail = async (vault: Vault, due: DueMail): Promise<OpenedMail> =>
  JSON.parse(await vault.open(messageContext(due.id), due.sealed)) as OpenedMail;

/** Deletes an email that was accepted by the transport or is of no use any more. */
export const deleteMail = (db: Database, mail: string) => db.delete(mailOutbox).where(eq(id, mail));

/** Makes an email due at `at`. */
export const postponeMail = (db: Database, mail: string, at: Instant) => db.update(mailOutbox).set({ nextAt: at }).where(eq(id, mail));

/**
 * Whether an email is being sent for the first time, for development's mailbox. A lease is longer than the wait after a failed first
 * attempt, so half of it tells the two apart.
 */
export const hasMailInProgress = async (db: Database, now: Instant): Promise<boolean> => {
  const sending = await db
    .select({ id })
    .from(mailOutbox)
    .where(allOf(eq(attempts, 1), gt(nextAt, now + leaseMs / 2)))
    .limit(1);
  return sending.length > 0;
};
