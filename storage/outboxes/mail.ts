// The mail outbox. An email's row is inserted in the same batch as the change that causes the email. The address and content are sealed.
// When the email provider accepts the email, the row is deleted. If the service gives up, the row is moved to the failed emails.
import { eq, gt, inArray, sql, type SQL } from "drizzle-orm";
import type { CertId, ConsumerId } from "../../core/ids.ts";
import { isEmailAddress } from "../../core/email-address.ts";
import type { Language } from "../../core/language.ts";
import { mailLifetimeMs, type TemplatedMail } from "../../core/mail/templates.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Database, Found, Statement } from "../database.ts";
import { mailOutbox } from "../schema.ts";
import { insertIf, bulkInsert } from "../inserts.ts";
import { allOf, query } from "../query.ts";
import { isNotErased } from "../unless-erased.ts";
import { selfOwnedContext, type Vault } from "../vault.ts";

const leaseMs = 60 * secondMs; // longer than the provider's timeout of 10 s, so that two workers do not send the same email

const messageContext = selfOwnedContext("mail_outbox", "message");

export type NewMail = TemplatedMail & {
  /**
   * If null, nothing is sent, but the row causes the same work as an email. Response times therefore do not reveal whether an address is
   * known.
   */
  readonly to: string | null;
  /** The language of the email. The default is English. */
  readonly language?: Language;
  readonly now: Instant;
  /** The certificate whose person gets the email. Erasing that person's data deletes unsent emails and prevents new ones. */
  readonly certId?: CertId;
  /** The consumer who gets the email. Erasing the account deletes unsent emails. */
  readonly consumerId?: ConsumerId;
  /** The ID of the invitation or email code in the email. If the email fails, the failure is shown with that invitation or code. */
  readonly entityId?: string;
  /** If given, the row is written only if this condition is true. */
  readonly onlyIf?: SQL;
};

type OpenedMail = TemplatedMail & { readonly to: string | null; readonly language: Language };

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

/** Returns the statement that inserts the email. Add it to the batch of the change. Throws if `to` is not an email address. */
export const insertMail = async (db: Database, vault: Vault, mail: NewMail): Promise<readonly Statement[]> => [
  insertIf(
    db,
    mailOutbox,
    await toMailRow(vault, mail),
    allOf(mail.onlyIf ?? sql`true`, mail.certId === undefined ? sql`true` : isNotErased(mail.certId)),
  ),
];

/** Inserts any number of sealed emails with one statement. */
export const insertMails = bulkInsert(mailOutbox, ["id", "template", "messageSealed", "nextAt", "giveUpAt", "createdAt", "consumerId"]);

/** A sealed email that is not about a certificate and is not saved yet. */
export type SealedMail = Parameters<typeof insertMails>[1][number];

export const sealMail = (vault: Vault, mail: Omit<NewMail, "onlyIf" | "certId">): Promise<SealedMail> => toMailRow(vault, mail as NewMail);

const { ord, id, template, messageSealed: sealed, attempts, nextAt, giveUpAt } = mailOutbox;

/** The number of emails that a claim examines. The outbox contains more only if the provider is down. */
const maxLookedAt = 1_500;

/**
 * Claims up to `max` due emails. Emails that expire soonest come first, so that a code is sent before thousands of warnings. Concurrent
 * calls get different emails. Examines only the 1,500 emails that expire soonest. Otherwise, the cost would grow with the number of emails
 * that are waiting for a retry.
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

/** Decrypts an email from the outbox or a failed email. Both have the same encryption context, because a failed email keeps its ID. */
export const openMailContent = async (vault: Vault, mail: string, messageSealed: string): Promise<OpenedMail> =>
  JSON.parse(await vault.open(messageContext(mail), messageSealed)) as OpenedMail;

export const deleteMail = (db: Database, mail: DueMail) => db.delete(mailOutbox).where(eq(ord, mail.ord));

export const postponeMail = (db: Database, mail: DueMail, at: Instant) =>
  db.update(mailOutbox).set({ nextAt: at }).where(eq(ord, mail.ord));

/**
 * Returns true if the first attempt to send an email is in progress, so that the development mailbox can wait for it. During the attempt,
 * the due time is the end of the lease. After a failed attempt, it is less than half a lease away.
 */
export const hasMailInProgress = async (db: Database, now: Instant): Promise<boolean> => {
  const sending = await db
    .select({ id })
    .from(mailOutbox)
    .where(allOf(eq(attempts, 1), gt(nextAt, now + leaseMs / 2)))
    .limit(1);
  return sending.length > 0;
};
