// Mail on its way out: a row in the batch of the change that calls for it, with address and contents sealed. It is set when it
// is sent, and its row is deleted when somebody has taken it or when it is of no use any more.
import { isMailbox } from "../core/mailbox.ts";
import { mailLifeMs, type Mail, type MailLanguage } from "../core/mail/templates.ts";
import { secondMs, type Instant } from "../core/time.ts";
import type { Expression } from "./sql.ts";
import type { SealedPlace, Vault } from "./vault.ts";

const leaseMs = 60 * secondMs; // more than a transport's 10 s, so that nobody sends what another is still sending

const messagePlace = (id: string): SealedPlace => ({ table: "mail_outbox", record: id, field: "message", owner: id });

/** Null in `to` is nobody: the same row costing the same work, dropped unsent, so that asking for an unknown address looks like any other. */
export type MailToSend = Mail & {
  readonly to: string | null;
  /** English unless said otherwise. */
  readonly language?: MailLanguage;
  readonly now: Instant;
  /** A condition that must hold in the batch for the row to be written. */
  readonly onlyIf?: Expression;
};

/** What a row says when it is opened. */
type OpenedMail = Mail & { readonly to: string | null; readonly language: MailLanguage };

/** The row for the batch of the change. */
export const insertMail = async (db: D1Database, vault: Vault, mail: MailToSend): Promise<D1PreparedStatement> => {
  if (mail.to !== null && !isMailbox(mail.to)) throw new Error("mail: the address is not one mailbox");
  const id = crypto.randomUUID();
  const { to, template, data, language = "en", now } = mail;
  const sealed = await vault.seal(messagePlace(id), JSON.stringify({ to, template, data, language }));
  const condition = mail.onlyIf ?? { sql: "1", bound: [] };
  return db
    .prepare(
      `INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at) SELECT ?, ?, ?, ?, ?, ? WHERE ${condition.sql}`,
    )
    .bind(id, template, sealed, now, now + mailLifeMs[template], now, ...condition.bound);
};

export interface DueMail {
  readonly id: string;
  readonly sealed: string;
  /** This one included. */
  readonly attempts: number;
  readonly giveUpAt: Instant;
}

/** Takes what has been due longest; of two workers at once, each gets its own. */
export const claimMail = async (db: D1Database, now: Instant, most: number): Promise<readonly DueMail[]> => {
  const { results } = await db
    .prepare(
      `UPDATE mail_outbox SET next_at = ?1 + ${leaseMs}, attempts = attempts + 1
       WHERE ord IN (SELECT ord FROM mail_outbox WHERE next_at <= ?1 ORDER BY next_at, ord LIMIT ?2)
       RETURNING id, message_sealed AS sealed, attempts, give_up_at AS giveUpAt`,
    )
    .bind(now, most)
    .all<DueMail & Record<string, unknown>>();
  return results;
};

export const openMail = async (vault: Vault, due: DueMail): Promise<OpenedMail> =>
  JSON.parse(await vault.open(messagePlace(due.id), due.sealed)) as OpenedMail;

/** It was taken, or it is of no use any more. */
export const deleteMail = (db: D1Database, id: string): D1PreparedStatement => db.prepare("DELETE FROM mail_outbox WHERE id = ?").bind(id);

export const postponeMail = (db: D1Database, id: string, at: Instant): D1PreparedStatement =>
  db.prepare("UPDATE mail_outbox SET next_at = ? WHERE id = ?").bind(at, id);

/** Whether somebody is sending for the first time just now; for development's mailbox, which likes to show what was asked for. */
export const isSending = async (db: D1Database, now: Instant): Promise<boolean> =>
  (await db.prepare("SELECT 1 FROM mail_outbox WHERE attempts = 1 AND next_at > ? LIMIT 1").bind(now).first()) !== null;
