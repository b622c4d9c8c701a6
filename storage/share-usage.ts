// Limits on what shares store. A person can grant shares without end, and anyone who reads a page's source can grant test shares, so both
// are counted in the batch that writes them. The whole batch fails beyond the limit. SPEC Limits.
import { eq, gt, sql } from "drizzle-orm";
import type { BusinessId, ConsumerId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded } from "./inserts.ts";
import { allOf, existsIn, query } from "./query.ts";
import { disclosures, shareUsage } from "./schema.ts";

/** Days for which usage is kept: the longest window of a limit. */
export const shareUsageDays = 30;

/** A person's limit is for one UTC day. A sandbox's limit is for 30 days, because its records live that long. */
const limitsByOwner = {
  person: { days: 1, records: 1_000, bytes: 20_000_000 },
  sandbox: { days: shareUsageDays, records: 10_000, bytes: 100_000_000 },
} as const;

export interface ShareUsage {
  readonly owner: { readonly person: ConsumerId } | { readonly sandboxOf: BusinessId };
  readonly now: Instant;
  /** Characters stored only for this share. */
  readonly ownBytes: number;
  /** The disclosure counts only if it is new. */
  readonly disclosureHash: string;
  readonly disclosureBytes: number;
}

/** Counts a share. Must come before the statement that stores the disclosure. Fails beyond the limit; check with `isShareUsageLimitReached`. */
export const recordShareUsage = (db: Database, { owner, now, ownBytes, disclosureHash, disclosureBytes }: ShareUsage) => {
  const { ownerId, day, records, bytes } = shareUsage;
  const [id, limit] =
    "person" in owner ? ([owner.person, limitsByOwner.person] as const) : ([owner.sandboxOf, limitsByOwner.sandbox] as const);
  const today = Math.floor(now / dayMs);
  const used = (column: typeof records | typeof bytes) =>
    sql<number>`${query
      .select({ used: sql`coalesce(sum(${column}), 0)`.as("used") })
      .from(shareUsage)
      .where(allOf(eq(ownerId, id), gt(day, today - limit.days)))}`;
  const hasDisclosure = existsIn(disclosures, eq(disclosures.hash, disclosureHash));
  const added = sql`(${ownBytes} + iif(${hasDisclosure}, 0, ${disclosureBytes}))`;
  const isAllowed = sql`${used(records)} < ${limit.records} and ${used(bytes)} + ${added} <= ${limit.bytes}`;
  return db
    .insert(shareUsage, "ownerId", "day", "records", "bytes")
    .select(sql`select ${id}, ${today}, iif(${isAllowed}, 1, null), ${added} where true`)
    .onConflictDoUpdate({
      target: [ownerId, day],
      set: { records: sql`${records} + ${excluded(records)}`, bytes: sql`${bytes} + ${excluded(bytes)}` },
    });
};

/** True when the batch failed because the person or the sandbox has reached a limit. */
export const isShareUsageLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", shareUsage.records);
