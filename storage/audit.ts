// The audit outbox of a home: entries written with the change they tell of, on their way into the audit chains.
import type { Instant } from "../core/time.ts";

export interface UndrainedRow {
  readonly ord: number;
  readonly id: string;
  readonly chain: string;
  readonly type: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly at: Instant;
  readonly payloadHash: string;
}

/** Oldest first, from behind `afterOrd` on; read from the primary, so that what was just committed is seen. */
export const undrainedRows = async (db: D1Database, shard: number, afterOrd: number, most: number): Promise<UndrainedRow[]> => {
  const { results } = await db
    .withSession("first-primary")
    .prepare(
      `SELECT ord, id, chain, type, entity_type AS entityType, entity_id AS entityId, at, payload_hash AS payloadHash
       FROM audit_outbox WHERE shard = ? AND drained_at IS NULL AND ord > ? ORDER BY ord LIMIT ?`,
    )
    .bind(shard, afterOrd, most)
    .all<UndrainedRow & Record<string, unknown>>();
  return results;
};

/** Marks rows that their chains hold. The first mark stays. */
export const markDrained = (db: D1Database, ords: readonly number[], now: Instant): D1PreparedStatement =>
  db
    .prepare("UPDATE audit_outbox SET drained_at = ? WHERE drained_at IS NULL AND ord IN (SELECT value FROM json_each(?))")
    .bind(now, JSON.stringify(ords));
