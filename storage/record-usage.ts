// Limits the amount of data that a person, a business or a sandbox can store. The batch that stores a record also counts it, and fails if
// the limit would be exceeded. Policy texts are counted before they are written to KV. Live submissions without an API key are counted only
// by client (client-usage.ts). SPEC Limits.
import { eq, gt, sql, type SQL } from "drizzle-orm";
import type { StorageLimit, StorageOwnerKind } from "../core/access/storage-limits.ts";
import { type Instant, toDayNumber } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded } from "./inserts.ts";
import { allOf, existsIn, query } from "./query.ts";
import { disclosures, entityLists, recordUsage } from "./schema.ts";

/** The number of days for which usage is kept. No limit has a longer window. */
export const usageRetentionDays = 30;

export interface StoredRecord {
  /** `id` is the ID of the person or business. For policies, it has a suffix if the page is known. */
  readonly owner: { readonly kind: Exclude<StorageOwnerKind, "client">; readonly id: string };
  readonly now: Instant;
  /** The bytes that are stored only for this record. */
  readonly ownBytes: number;
  /** Records with the same text share one stored copy, so only a new text counts toward the client's limit on bytes. */
  readonly disclosure?: SharedText;
  readonly entities?: SharedText;
}

interface SharedText {
  readonly hash: string;
  readonly bytes: number;
}

/**
 * Counts a record. Must come before the statements that store the shared texts. The batch fails if the limit is exceeded
 * (`isStorageLimitReached`).
 */
export const countStoredRecord = (db: Database, { owner, now, ownBytes, disclosure, entities }: StoredRecord, limit: StorageLimit) => {
  const { ownerId, ownerKind, day, records, bytes } = recordUsage;
  const today = toDayNumber(now);
  const used = (column: typeof records | typeof bytes) =>
    sql<number>`${query
      .select({ used: sql`coalesce(sum(${column}), 0)`.as("used") })
      .from(recordUsage)
      .where(allOf(eq(ownerId, owner.id), eq(ownerKind, owner.kind), gt(day, today - limit.days)))}`;
  const countIfNew = (text: SharedText | undefined, exists: (hash: string) => SQL): SQL =>
    text === undefined ? sql`0` : sql`iif(${exists(text.hash)}, 0, ${text.bytes})`;
  const newDisclosure = countIfNew(disclosure, (hash) => existsIn(disclosures, eq(disclosures.hash, hash)));
  const newEntities = countIfNew(entities, (hash) => existsIn(entityLists, eq(entityLists.hash, hash)));
  const added = sql`(${ownBytes} + ${newDisclosure} + ${newEntities})`;
  const isAllowed = sql`${used(records)} < ${limit.records} and ${used(bytes)} + ${added} <= ${limit.bytes}`;
  return db
    .insert(recordUsage, "ownerId", "ownerKind", "day", "records", "bytes")
    .select(sql`select ${owner.id}, ${owner.kind}, ${today}, iif(${isAllowed}, 1, null), ${added} where true`)
    .onConflictDoUpdate({
      target: [ownerId, ownerKind, day],
      set: { records: sql`${records} + ${excluded(records)}`, bytes: sql`${bytes} + ${excluded(bytes)}` },
    });
};

export const isStorageLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", recordUsage.records);
