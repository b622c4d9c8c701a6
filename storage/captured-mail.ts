// Development's mailbox: what would have been sent, sealed like everything personal, readable at /dev/mail.
import type { MailMessage } from "../core/mail/message.ts";
import { comparableMailbox } from "../core/mailbox.ts";
import type { Instant } from "../core/time.ts";
import type { SealedPlace, Vault } from "./vault.ts";

const kept = 1_000; // the newest; more is nobody's debugging
const shown = 100;

export interface CapturedMail extends MailMessage {
  readonly sentAt: Instant;
}

const messagePlace = (id: string): SealedPlace => ({ table: "captured_mail", record: id, field: "message", owner: id });

const recipientIndex = (vault: Vault, to: string): Promise<string> => vault.blindIndex("email", comparableMailbox(to) ?? to);

/** A mail sent twice is there once. */
export const captureMail = async (db: D1Database, vault: Vault, message: MailMessage, now: Instant): Promise<void> => {
  const sealed = await vault.seal(messagePlace(message.id), JSON.stringify(message));
  await db.batch([
    db
      .prepare("INSERT OR IGNORE INTO captured_mail (id, recipient_index, message_sealed, sent_at) VALUES (?, ?, ?, ?)")
      .bind(message.id, await recipientIndex(vault, message.to), sealed, now),
    db.prepare("DELETE FROM captured_mail WHERE ord <= (SELECT MAX(ord) FROM captured_mail) - ?").bind(kept),
  ]);
};

/** Newest first; all of them, or those to one address. */
export const capturedMail = async (db: D1Database, vault: Vault, to: string | null): Promise<readonly CapturedMail[]> => {
  const { results } = await db
    .prepare("SELECT id, message_sealed, sent_at FROM captured_mail WHERE ?1 IS NULL OR recipient_index = ?1 ORDER BY ord DESC LIMIT ?2")
    .bind(to === null ? null : await recipientIndex(vault, to), shown)
    .all<{ id: string; message_sealed: string; sent_at: number }>();
  return Promise.all(
    results.map(async (row) => ({
      ...(JSON.parse(await vault.open(messagePlace(row.id), row.message_sealed)) as MailMessage),
      sentAt: row.sent_at,
    })),
  );
};
