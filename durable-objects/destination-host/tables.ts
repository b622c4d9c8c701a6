// The tables of a destination host. Each function is synchronous, so no other request can run partway through it.
import { dayMs, type Instant } from "../../core/time.ts";

/**
 * The maximum number of businesses for which the host is stored as proven. Beyond this number, the oldest rows are deleted, and the host is
 * unproven for those businesses until it returns a 2xx status again.
 */
const maxProven = 10_000;
/** The maximum number of waiting businesses. When the queue is full, no business can join it. */
const maxWaiting = 1_000;
const unprovenRetentionMs = dayMs; // longer than any pause between two attempts

export const isProven = (sql: SqlStorage, businessId: string): boolean =>
  sql.exec("SELECT 1 FROM proven WHERE business_id = ?", businessId).toArray().length > 0;

export const saveProven = (sql: SqlStorage, businessId: string, now: Instant): void => {
  sql.exec("INSERT INTO proven (business_id, at) VALUES (?1, ?2) ON CONFLICT (business_id) DO UPDATE SET at = ?2", businessId, now);
  sql.exec(`DELETE FROM proven WHERE business_id IN (SELECT business_id FROM proven ORDER BY at DESC LIMIT -1 OFFSET ${maxProven})`);
  sql.exec("DELETE FROM unproven WHERE business_id = ?", businessId);
  sql.exec("DELETE FROM waiting WHERE business_id = ?", businessId);
};

/**
 * Deletes:
 * - attempts up to `start` and after `end`
 * - expired places in the queue
 * - the counts of businesses that have made no attempt for a day
 */
export const prune = (
  sql: SqlStorage,
  { start, end, now }: { readonly start: Instant; readonly end: Instant; readonly now: Instant },
): void => {
  sql.exec("DELETE FROM attempt WHERE at <= ? OR at > ?", start, end);
  sql.exec("DELETE FROM waiting WHERE until <= ?", now);
  sql.exec("DELETE FROM unproven WHERE last_at <= ?", now - unprovenRetentionMs);
};

export const hasPrunableRows = (sql: SqlStorage): boolean =>
  ["attempt", "unproven", "waiting"].some((table) => sql.exec(`SELECT 1 FROM ${table} LIMIT 1`).toArray().length > 0);

/** Lists the times of a business's attempts after `start`, oldest first. If `businessId` is null, lists the attempts of all businesses. */
export const listAttemptTimes = (sql: SqlStorage, start: Instant, businessId: string | null): readonly Instant[] =>
  sql
    .exec<{ at: number }>("SELECT at FROM attempt WHERE at > ?1 AND (?2 IS NULL OR business_id = ?2) ORDER BY at", start, businessId)
    .toArray()
    .map(({ at }) => at);

/** Returns the number of attempts that a business has made without a 2xx response, and the time of the last one. */
export const findUnproven = (sql: SqlStorage, businessId: string): { readonly attempts: number; readonly last_at: Instant } | null =>
  sql
    .exec<{ attempts: number; last_at: number }>("SELECT attempts, last_at FROM unproven WHERE business_id = ?", businessId)
    .toArray()[0] ?? null;

/** Counts an attempt and removes the business from the queue. */
export const insertAttempt = (sql: SqlStorage, businessId: string, now: Instant): void => {
  sql.exec("INSERT INTO attempt (at, business_id) VALUES (?, ?)", now, businessId);
  sql.exec(
    `INSERT INTO unproven (business_id, attempts, last_at) VALUES (?1, 1, ?2)
     ON CONFLICT (business_id) DO UPDATE SET attempts = attempts + 1, last_at = ?2`,
    businessId,
    now,
  );
  sql.exec("DELETE FROM waiting WHERE business_id = ?", businessId);
};

/**
 * Counts businesses other than `businessId`. `waiting` counts those in the queue. `active` also counts those that made their last attempt
 * after `start`.
 */
export const countOthers = (sql: SqlStorage, start: Instant, businessId: string): { readonly waiting: number; readonly active: number } =>
  sql
    .exec<{ waiting: number; active: number }>(
      `SELECT (SELECT COUNT(*) FROM waiting WHERE business_id != ?1) AS waiting, COUNT(*) AS active FROM
         (SELECT business_id FROM unproven WHERE last_at > ?2 UNION SELECT business_id FROM waiting) WHERE business_id != ?1`,
      businessId,
      start,
    )
    .one();

/** Counts the businesses ahead of this one in the queue. If this business is not in the queue, counts all businesses in it. */
export const countAhead = (sql: SqlStorage, businessId: string): number =>
  sql
    .exec<{ ahead: number }>(
      `SELECT COUNT(*) AS ahead FROM waiting WHERE business_id != ?1
       AND (since, business_id) < (COALESCE((SELECT since FROM waiting WHERE business_id = ?1), ${Number.MAX_SAFE_INTEGER}), ?1)`,
      businessId,
    )
    .one().ahead;

/**
 * Adds the business to the queue until `until`, unless the queue is full. If it is already in the queue, it keeps its position, and only
 * `until` changes.
 */
export const saveWaiting = (sql: SqlStorage, businessId: string, now: Instant, until: Instant): void => {
  sql.exec(
    `INSERT INTO waiting (business_id, since, until) SELECT ?1, ?2, ?3
     WHERE (SELECT COUNT(*) FROM waiting) < ${maxWaiting} OR EXISTS (SELECT 1 FROM waiting WHERE business_id = ?1)
     ON CONFLICT (business_id) DO UPDATE SET until = ?3`,
    businessId,
    now,
    until,
  );
};
