// Links from a recipient's name on an issuer's certificates to the business with that name. The issuer's shard stores them.
import { asc, eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { allOf } from "./query.ts";
import { linkedRecipients } from "./schema.ts";

export interface RecipientLink {
  /** The name on the issuer's certificates. */
  readonly entity: string;
  /** The business that has this name. */
  readonly recipientId: BusinessId;
}

export type LinkedRecipient = RecipientLink & { readonly createdAt: Instant };

const maxLinks = 1_000; // limits the number of names that a match must compare

const { businessId, recipientId, entity, createdAt } = linkedRecipients;

/** Lists an issuer's links, sorted by name. */
export const listLinkedRecipients = (db: Database, issuer: BusinessId): Promise<readonly LinkedRecipient[]> =>
  db
    .select({ entity, recipientId, createdAt })
    .from(linkedRecipients)
    .where(eq(businessId, issuer))
    .orderBy(asc(entity), asc(recipientId))
    .all();

/** Lists the names that the issuer has linked to one business. */
export const listLinkedNames = async (db: Database, issuer: BusinessId, recipient: BusinessId): Promise<readonly string[]> => {
  const rows = await db
    .select({ entity })
    .from(linkedRecipients)
    .where(allOf(eq(businessId, issuer), eq(recipientId, recipient)))
    .all();
  return rows.map((row) => row.entity);
};

/** Inserts a link. Fails if the issuer has 1,000 links (`isRecipientLimitReached`) or the link already exists (`isAlreadyLinked`). */
export const insertLinkedRecipient = (db: Database, issuer: BusinessId, link: RecipientLink, at: Instant) =>
  db.insert(linkedRecipients).values({ ...link, businessId: ownerIfBelowLimit(businessId, issuer, maxLinks), createdAt: at });

export const isRecipientLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", businessId);
export const isAlreadyLinked = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", businessId, recipientId, entity);

const isLink = (issuer: BusinessId, link: RecipientLink) =>
  allOf(eq(businessId, issuer), eq(recipientId, link.recipientId), eq(entity, link.entity));

export const findLinkedRecipient = async (db: Database, issuer: BusinessId, link: RecipientLink): Promise<LinkedRecipient | null> =>
  (await db.select({ entity, recipientId, createdAt }).from(linkedRecipients).where(isLink(issuer, link)).get()) ?? null;

export const deleteLinkedRecipient = (db: Database, issuer: BusinessId, link: RecipientLink) =>
  db.delete(linkedRecipients).where(isLink(issuer, link));
