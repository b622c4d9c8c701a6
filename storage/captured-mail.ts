// The development mailbox: stores sealed emails instead of sending them. The page /dev/mail shows the emails.
import { desc, lte, max, sql } from "drizzle-orm";
import { toStoredIndex, type AddressIndex } from "../core/access/address-index.ts";
import type { OutgoingMail } from "../core/mail/message.ts";
import { normalizeEmailAddress } from "../core/email-address.ts";
import type { Instant } from "../core/time.ts";
import { hasIndex } from "./address-indexes.ts";
import { batch, type Database } from "./database.ts";
import { capturedMail as mails } from "./schema.ts";
import { query } from "./query.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const maxStored = 1_000;
const maxListed = 100;

export interface CapturedMail extends OutgoingMail {
  readonly sentAt: Instant;
}

const messageContext = selfOwnedContext("captured_mail", "message");

const computeRecipientIndex = (vault: Vault, to: string): Promise<AddressIndex> =>
  vault.blindIndex("email", normalizeEmailAddress(to) ?? to);

/** Stores an email and deletes all but the newest 1,000. Ignores an email whose ID is already stored. */
export const insertCapturedMail = async (db: Database, vault: Vault, message: OutgoingMail, now: Instant): Promise<void> => {
  const { id, to } = message;
  const messageSealed = await vault.seal(messageContext(id), JSON.stringify(message));
  const recipientIndex = toStoredIndex(await computeRecipientIndex(vault, to));
  const newest = query.select({ ord: max(mails.ord) }).from(mails);
  await batch(db, [
    db.insert(mails).values({ id, recipientIndex, messageSealed, sentAt: now }).onConflictDoNothing(),
    db.delete(mails).where(lte(mails.ord, sql`${newest} - ${maxStored}`)),
  ]);
};

/** Lists up to 100 emails, newest first. If `to` is not null, lists only the emails to that address. */
export const listCapturedMail = async (db: Database, vault: Vault, to: string | null): Promise<readonly CapturedMail[]> => {
  const { id, messageSealed, sentAt } = mails;
  const rows = await db
    .select({ id, messageSealed, sentAt })
    .from(mails)
    .where(to === null ? undefined : hasIndex(mails.recipientIndex, await computeRecipientIndex(vault, to)))
    .orderBy(desc(mails.ord))
    .limit(maxListed);
  return Promise.all(
    rows.map(async (row) => ({
      ...(JSON.parse(await vault.open(messageContext(row.id), row.messageSealed)) as OutgoingMail),
      sentAt: row.sentAt,
    })),
  );
};
