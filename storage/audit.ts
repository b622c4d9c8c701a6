// The audit outbox of a home: entries written with the change they tell of, on their way into the audit chains.
import type { Json } from "../core/canonical-json.ts";
import type { Instant } from "../core/time.ts";
import type { SealedPlace, Vault } from "./vault.ts";

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

/** Where the salt and the payload of an entry are sealed. */
export const payloadPlace = (id: string, chainTag: string): SealedPlace => ({
  table: "audit_outbox",
  record: id,
  field: "payload",
  owner: chainTag,
});

/** What was committed to by an entry of a certificate. */
export interface CommittedEntry {
  readonly id: string;
  readonly drained: boolean;
  /** Null once erased. */
  readonly committed: { readonly salt: string; readonly payload: { readonly [key: string]: Json } } | null;
}

/**
 * What happened to a certificate, oldest first. Who only looked at it is left out: that is the business's own record, and every
 * look would make the evidence another one.
 */
export const certificateEntries = async (
  db: D1Database,
  vault: Vault,
  asked: { readonly certId: string; readonly chainTag: string; readonly most: number },
): Promise<CommittedEntry[]> => {
  const { results } = await db
    .prepare(
      `SELECT id, payload_sealed, drained_at FROM audit_outbox
       WHERE entity_id = ? AND chain = ? AND type NOT IN ('certificate.subject_read', 'evidence_pack.exported') ORDER BY ord LIMIT ?`,
    )
    .bind(asked.certId, asked.chainTag, asked.most)
    .all<{ id: string; payload_sealed: string | null; drained_at: Instant | null }>();
  return Promise.all(
    results.map(async ({ id, payload_sealed, drained_at }) => {
      const text = payload_sealed === null ? null : await vault.open(payloadPlace(id, asked.chainTag), payload_sealed);
      const pair = text === null ? null : (JSON.parse(text) as [string, { readonly [key: string]: Json }]);
      return { id, drained: drained_at !== null, committed: pair === null ? null : { salt: pair[0], payload: pair[1] } };
    }),
  );
};
