// Emails that the service has given up sending, with the reason. Operators see all failed emails, and can resend those without a one-time
// code. A person whose request caused the email also sees that it failed, but only if that reveals nothing about anyone else.
import { count, desc, eq, gt, lte, max, sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { MailFailureReason } from "../core/mail/message.ts";
import { mailLifetimeMs } from "../core/mail/templates.ts";
import { dayMs, hourMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { openMailContent, type DueMail } from "./outboxes/mail.ts";
import { query } from "./query.ts";
import { failedMail, mailOutbox } from "./schema.ts";
import type { Vault } from "./vault.ts";

const maxStored = 10_000; // per shard, so that failed emails cannot fill a database
const retentionMs = 30 * dayMs;
// How long emails with one-time codes are kept, because a person who still needs a code requests a new one. The same applies to the
// confirmation that an account was deleted, because the person asked to have the address erased.
const shortRetentionMs = dayMs;

const columns = ["id", "template", "messageSealed", "createdAt", "certId", "consumerId", "entityId"] as const;

const getLifetimeMs = (template: string): number => (mailLifetimeMs as Readonly<Record<string, number>>)[template] ?? 0;
/** Returns false for emails with a one-time code, which expires before an operator can resend the email. */
const isLasting = (template: string): boolean => getLifetimeMs(template) > hourMs;

const getRetentionMs = (template: string): number =>
  isLasting(template) && template !== "account_deleted" ? retentionMs : shortRetentionMs;

/** Returns the statements that move an email from the outbox to the failed emails. A shard keeps the newest 10,000 failed emails. */
export const failMail = (db: Database, { ord, template }: DueMail, reason: MailFailureReason, now: Instant) => {
  const expiresAt = now + getRetentionMs(template);
  const newest = query.select({ ord: max(failedMail.ord) }).from(failedMail);
  return [
    db
      .insert(failedMail, ...columns, "reason", "failedAt", "expiresAt")
      .select(
        sql`select ${sql.join(
          columns.map((key) => mailOutbox[key]),
          sql`, `,
        )}, ${reason}, ${now}, ${expiresAt} from ${mailOutbox} where ${eq(mailOutbox.ord, ord)}`,
      )
      .onConflictDoNothing({ target: failedMail.id }),
    db.delete(mailOutbox).where(eq(mailOutbox.ord, ord)),
    db.delete(failedMail).where(lte(failedMail.ord, sql`${newest} - ${maxStored}`)),
  ] as const;
};

export const countFailedMailSince = async (db: Database, since: Instant): Promise<number> => {
  const [row] = await db.select({ count: count() }).from(failedMail).where(gt(failedMail.failedAt, since));
  return row?.count ?? 0;
};

/** Lists up to `limit` failed emails with their recipients, newest first. */
export const listFailedMail = async (db: Database, vault: Vault, limit: number) => {
  const { id, template, messageSealed, reason, failedAt } = failedMail;
  const rows = await db
    .select({ id, template, messageSealed, reason, failedAt })
    .from(failedMail)
    .orderBy(desc(failedMail.ord))
    .limit(limit);
  return Promise.all(
    rows.map(async ({ messageSealed: sealed, ...row }) => {
      // List an email without its recipient if it cannot be decrypted, for example because a master key is missing.
      const content = await openMailContent(vault, row.id, sealed).catch(() => null);
      return { ...row, to: content?.to ?? null };
    }),
  );
};

/** Moves a failed email back to the outbox, with a new lifetime. Returns false if the email does not exist or contains a one-time code. */
export const requeueFailedMail = async (db: Database, id: string, now: Instant): Promise<boolean> => {
  const failed = await db.select({ template: failedMail.template }).from(failedMail).where(eq(failedMail.id, id)).get();
  if (failed === undefined || !isLasting(failed.template)) return false;
  const copied = sql.join(
    columns.map((key) => failedMail[key]),
    sql`, `,
  );
  await batch(db, [
    db
      .insert(mailOutbox, ...columns, "nextAt", "giveUpAt")
      .select(sql`select ${copied}, ${now}, ${now + getLifetimeMs(failed.template)} from ${failedMail} where ${eq(failedMail.id, id)}`),
    db.delete(failedMail).where(eq(failedMail.id, id)),
  ]);
  return true;
};

/** Selects the time at which the email with this invitation or code failed, or null if it did not fail. */
export const selectFailureOf = (entityId: SQLiteColumn): SQL<Instant | null> =>
  sql<Instant | null>`(select max(${failedMail.failedAt}) from ${failedMail} where ${failedMail.entityId} = ${entityId})`;
