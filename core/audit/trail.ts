// A principal's audit trail as its readers get it: a page of entries, newest first, and everything to check them with. Numbers
// of entries are numbers here and text where they are hashed.
import type { Json } from "../canonical-json.ts";
import type { AuditEntry } from "./chain.ts";
import type { AuditProof } from "./proof.ts";

type JsonObject = { readonly [key: string]: Json };

export interface CommittedPayload {
  readonly salt: string;
  readonly payload: JsonObject;
}

export interface TrailEntry extends AuditEntry {
  readonly hash: string;
  /** Decimal. */
  readonly log_index: string;
  /** Null once erased: the entry and its hashes stay. */
  readonly committed: CommittedPayload | null;
}

/** An entry that is committed and not in its chain yet: it has no number, and nothing proves it. */
export interface WaitingEntry {
  readonly at: string;
  readonly type: string;
  readonly entity_type: string;
  readonly entity_id: string;
}

export interface AuditTrail {
  readonly chain: string;
  readonly chainIndex: number;
  /** Newest first. */
  readonly entries: readonly TrailEntry[];
  readonly head: { readonly seq: string; readonly hash: string };
  readonly nextBeforeSeq: string | null;
  readonly proof: AuditProof;
}

const entryView = ({ committed, ...entry }: TrailEntry): JsonObject => ({
  seq: Number(entry.seq),
  at: entry.at,
  type: entry.type,
  entity_type: entry.entity_type,
  entity_id: entry.entity_id,
  payload: committed?.payload ?? null,
  payload_salt: committed?.salt ?? null,
  ...(committed === null && { erased: true }),
  payload_hash: entry.payload_hash,
  prev_hash: entry.prev_hash,
  hash: entry.hash,
  log_index: entry.log_index,
});

/** `trail` null: the chain has no entry yet. `anchor` is the newest checkpoint of the audit log in the ledger, as anchors are published. */
export const auditTrailView = (
  chain: string,
  trail: AuditTrail | null,
  pending: readonly WaitingEntry[],
  anchor: JsonObject | null,
): JsonObject => ({
  chain,
  chain_index: trail?.chainIndex ?? null,
  algorithm: "svc-audit-v1",
  entries: trail?.entries.map(entryView) ?? [],
  head: trail === null ? null : { seq: Number(trail.head.seq), hash: trail.head.hash },
  next_before_seq: trail === null || trail.nextBeforeSeq === null ? null : Number(trail.nextBeforeSeq),
  pending: pending.map((entry) => ({ ...entry })),
  proof:
    trail === null
      ? null
      : {
          origin: trail.proof.origin,
          checkpoint: trail.proof.checkpoint,
          head_tlog_proof: trail.proof.head_tlog_proof,
          heads: trail.proof.heads === null ? null : { ...trail.proof.heads, path: [...trail.proof.heads.path] },
          anchor,
        },
});
