// Mail on its way out: a row in the batch of the change that calls for it, with address and contents sealed. It is set when it
// is sent, and its row is deleted when somebody has taken it or when it is of no use any more.
import { eq, gt, inArray, sql, type SQL } from "drizzle-orm";
import type { CertId, ConsumerId } from "../../core/ids.ts";
import { isEmailAddress } from "../../core/email-address.ts";
import { mailLifetimeMs, type TemplatedMail, type MailLanguage } from "../../core/mail/templates.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Database, Found, Statement } from "../database.ts";
import { mailOutbox } from "../schema.ts";
import { insertIf, prepareBulkInsert } from "../inserts.ts";
import { allOf, query } from "../query.ts";
import { selfOwnedContext, type Vault } from "../vault.ts";

const leaseMs = 60 * secondMs; // more than a transport's 10 s, so that nobody sends what another is still sending

const messageContext = selfOwnedContext("mail_outbox", "message");

/** Null in `to` is nobody: the same row costing the same work, dropped unsent, so that asking for an unknown address looks like any other. */
export type NewMail = TemplatedMail & {
  readonly to: string | null;
  /** English unless said otherwise. */
  readonly language?: MailLanguage;
  readonly now: Instant;
  /** The certificate whose person it is for: unsent, it ends with them. */
  readonly certId?: CertId;
  /** The person with an account whom it is for: likewise. */
  readonly consumerId?: ConsumerId;
  /** A condition that must hold in the batch for the row to be written. */
  readonly onlyIf?: SQL;
};

/** What a row says when it is opened. */
type OpenedMail = TemplatedMail & { readonly to: string | null; readonly language: MailLanguage };

const toMailRow = async (vault: Vault, mail: NewMail) => {
  if (mail.to !== null && !isEmailAddress(mail.to)) throw new Error("mail: the address is not one mailbox");
  const id = crypto.randomUUID();
  const { to, template, data, language = "en", now, certId, consumerId } = mail;
  const messageSealed = await vault.seal(messageContext(id), JSON.stringify({ to, template, data, language }));
  return { id, template, messageSealed, nextAt: now, giveUpAt: now + mailLifetimeMs[template], createdAt: now, certId, consumerId };
};

/** The row for the batch of the change. */
export const insertMail = async (db: Database, vault: Vault, mail: NewMail): Promise<readonly Statement[]> => [
  insertIf(db, mailOutbox, await toMailRow(vault, mail), mail.onlyIf ?? sql`true`),
];

const insertMailRows = prepareBulkInsert(mailOutbox, ["id", "template", "messageSealed", "nextAt", "giveUpAt", "createdAt", "consumerId"]);

/** A mail about no certificate, sealed and not yet written. */
export type SealedMail = Parameters<typeof insertMailRows>[1][number];

export const sealMail = (vault: Vault, mail: Omit<NewMail, "onlyIf" | "certId">): Promise<SealedMail> => toMailRow(vault, mail as NewMail);

/** Any number of them as one statement. */
export const insertMails = (db: Database, mails: readonly SealedMail[]): Statement => insertMailRows(db, mails);

const { ord, id, messageSealed: sealed, attempts, nextAt, giveUpAt } = mailOutbox;

/**
 * Of what is due, takes what would be of no use soonest: a code goes before thousands of warnings. Of two workers at once, each gets its
 * own. In the order of that index; the plus keeps the planner from sorting all that is due.
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

/** It was taken, or it is of no use any more. */
export const deleteMail = (db: Database, mail: string) => db.delete(mailOutbox).where(eq(id, mail));

export const postponeMail = (db: Database, mail: string, at: Instant) => db.update(mailOutbox).set({ nextAt: at }).where(eq(id, mail));

/**
 * Whether somebody has just begun to send for the first time; for development's mailbox, which likes to show what was asked for. A lease
 * is longer than the wait after a first attempt that failed, so half of it tells the two apart.
 */
export const hasMailInProgress = async (db: Database, now: Instant): Promise<boolean> => {
  const sending = await db
    .select({ id })
    .from(mailOutbox)
    .where(allOf(eq(attempts, 1), gt(nextAt, now + leaseMs / 2)))
    .limit(1);
  return sending.length > 0;
};
