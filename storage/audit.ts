// The audit outbox of a home: entries written with the change they tell of, on their way into the audit chains.
import type { CommittedPayload, WaitingEntry } from "../core/audit/trail.ts";
import { isoOf, type Instant } from "../core/time.ts";
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
  readonly committed: CommittedPayload | null;
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
    results.map(async ({ id, payload_sealed, drained_at }) => ({
      id,
      drained: drained_at !== null,
      committed: await openedPayload(vault, asked.chainTag, id, payload_sealed),
    })),
  );
};

const openedPayload = async (vault: Vault, chainTag: string, id: string, sealed: string | null): Promise<CommittedPayload | null> => {
  if (sealed === null) return null;
  const [salt, payload] = JSON.parse(await vault.open(payloadPlace(id, chainTag), sealed)) as [string, CommittedPayload["payload"]];
  return { salt, payload };
};

/** What these rows of a chain committed to, by row; null once erased. */
export const committedPayloads = async (
  db: D1Database,
  vault: Vault,
  chainTag: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CommittedPayload | null>> => {
  const { results } = await db
    .prepare("SELECT id, payload_sealed FROM audit_outbox WHERE chain = ? AND id IN (SELECT value FROM json_each(?))")
    .bind(chainTag, JSON.stringify(ids))
    .all<{ id: string; payload_sealed: string | null }>();
  return new Map(
    await Promise.all(
      results.map(async ({ id, payload_sealed }) => [id, await openedPayload(vault, chainTag, id, payload_sealed)] as const),
    ),
  );
};

/** Rows of a chain that its log has not taken yet, oldest first. */
export const waitingEntries = async (
  db: D1Database,
  asked: { readonly shard: number; readonly chainTag: string; readonly most: number },
): Promise<WaitingEntry[]> => {
  const { results } = await db
    .prepare(
      `SELECT type, entity_type, entity_id, at FROM audit_outbox
       WHERE shard = ? AND drained_at IS NULL AND chain = ? ORDER BY ord LIMIT ?`,
    )
    .bind(asked.shard, asked.chainTag, asked.most)
    .all<{ type: string; entity_type: string; entity_id: string; at: Instant }>();
  return results.map((row) => ({ ...row, at: isoOf(row.at) }));
};
