// Recipients that an issuer has linked: each row says which business a name on the issuer's certificates refers to. The rows are in the
// issuer's shard.
import { asc, eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { allOf } from "./query.ts";
import { linkedRecipients } from "./schema.ts";

/** A name on the issuer's certificates, and the business that it refers to. */
export interface RecipientLink {
  readonly entity: string;
  readonly recipientId: BusinessId;
}

export type LinkedRecipient = RecipientLink & { readonly createdAt: Instant };

const maxLinks = 1_000; // more recipients than any form has; limits how many names `match` compares

const { businessId, recipientId, entity, createdAt } = linkedRecipients;

/** Lists an issuer's links by name. */
export const listLinkedRecipients = (db: Database, issuer: BusinessId): Promise<readonly LinkedRecipient[]> =>
  db
    .select({ entity, recipientId, createdAt })
    .from(linkedRecipients)
    .where(eq(businessId, issuer))
    .orderBy(asc(entity), asc(recipientId))
    .all();

/** Lists the names that the issuer has linked to one business. The list is empty if there are no links. */
export const listLinkedNames = async (db: Database, issuer: BusinessId, recipient: BusinessId): Promise<readonly string[]> => {
  const rows = await db
    .select({ entity })
    .from(linkedRecipients)
    .where(allOf(eq(businessId, issuer), eq(recipientId, recipient)))
    .all();
  return rows.map((row) => row.entity);
};

/**
 * Inserts a link. Fails if the issuer has 1,000 links (`isRecipientLimitReached` recognizes the error) or the link exists
 * (`isAlreadyLinked` recognizes the error).
 */
export const insertLinkedRecipient = (db: Database, issuer: BusinessId, link: RecipientLink, at: Instant) =>
  db.insert(linkedRecipients).values({ ...link, businessId: ownerIfBelowLimit(businessId, issuer, maxLinks), createdAt: at });

/** Returns true if the insert failed because the issuer already has 1,000 links. */
export const isRecipientLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", businessId);
/** Returns true if the insert failed because the link exists. */
export const isAlreadyLinked = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", businessId, recipientId, entity);

/** Builds a condition that selects the issuer's row for this link. */
const isLink = (issuer: BusinessId, link: RecipientLink) =>
  allOf(eq(businessId, issuer), eq(recipientId, link.recipientId), eq(entity, link.entity));

/** Finds one link. Returns null if there is none. */
export const findLinkedRecipient = async (db: Database, issuer: BusinessId, link: RecipientLink): Promise<LinkedRecipient | null> =>
  (await db.select({ entity, recipientId, createdAt }).from(linkedRecipients).where(isLink(issuer, link)).get()) ?? null;

/** Deletes a link. Does nothing if there is none. */
export const deleteLinkedRecipient = (db: Database, issuer: BusinessId, link: RecipientLink) =>
  db.delete(linkedRecipients).where(isLink(issuer, link));
