// Audit chains: each entry contains the previous entry's hash and has exactly one canonical form. A chain contains no personal data: only
// hashes, fixed text, IDs and times. Each entry commits to its full payload by hash. The payload is stored elsewhere, where it can be
// erased.
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";

/** The event that an entry records. Its property names are hashed and published. */
export interface AuditEvent {
  readonly type: string;
  readonly entity_type: string;
  readonly entity_id: string;
  /** The time as ISO 8601 in UTC, with three decimals. */
  readonly at: string;
  readonly payload_hash: string;
}

export interface AuditEntry extends AuditEvent {
  /** The tag of the chain: 32 hex digits, which are random for each principal. */
  readonly chain: string;
  /** The number of the entry in the chain as a decimal string, starting with "1". */
  readonly seq: string;
  readonly prev_hash: string;
}

/** A chain's tag and the index of its leaf in the tree of heads. */
export interface ChainPosition {
  readonly chain: string;
  readonly chainIndex: bigint;
}

export interface ChainHead {
  readonly seq: bigint;
  readonly hash: string;
}

/**
 * Returns the head of an empty chain. The chain's first entry contains the head's hash as `prev_hash`. The head depends on the chain and
 * its index, so that one principal's chain cannot be presented as that of another principal.
 */
export const createGenesisHead = ({ chain, chainIndex }: ChainPosition): ChainHead => ({
  seq: 0n,
  hash: sha256Hex(`svc-audit-v1\n${chainIndex}\n${chain}`),
});

/** Returns the exact text that is hashed for an entry. */
export const serializeAuditEntry = (entry: AuditEntry): string =>
  toCanonicalJson({
    at: entry.at,
    chain: entry.chain,
    entity_id: entry.entity_id,
    entity_type: entry.entity_type,
    payload_hash: entry.payload_hash,
    prev_hash: entry.prev_hash,
    seq: entry.seq,
    type: entry.type,
  });

/** Returns the lowercase hex hash of the serialized entry. */
export const hashAuditEntry = (entry: AuditEntry): string => sha256Hex(serializeAuditEntry(entry));

/** Returns the entry that adds `event` to the chain after `head`, and the new head. */
export const createNextEntry = (chain: string, head: ChainHead, event: AuditEvent): { entry: AuditEntry; head: ChainHead } => {
  const seq = head.seq + 1n;
  const entry: AuditEntry = { ...event, chain, seq: seq.toString(), prev_hash: head.hash };
  return { entry, head: { seq, hash: hashAuditEntry(entry) } };
};

/** An entry and its claimed hash. */
export type HashedEntry = AuditEntry & { readonly hash: string };
