// The only thing that leaves for the ledger: six text members, hashes and generic metadata (SPEC, What the service does 5).
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256, sha256Hex } from "../hash.ts";
import { toIso, type Instant } from "../time.ts";

export type AnchoredEventType =
  | "certificate.issued"
  | "certificate.revoked"
  | "certificate.entities_withdrawn"
  | "share.created"
  | "share.revoked"
  | "share.renewed"
  | "business.ceased";

export interface AnchorSubject {
  readonly event: AnchoredEventType;
  readonly entityId: string;
  /** The entity's original fingerprint, also when it is revoked or ceased. */
  readonly fingerprint: string;
  readonly originDomain: string;
  /** Business time of the event; for an issuance the timestamp of the fingerprint. */
  readonly at: Instant;
  /** Hex SHA-256 of the signed receipt, for what the other members do not tell: from whom a person withdrew. */
  readonly receiptHash?: string;
}

/** Canonical JSON of the statement `svc-anchor-v1`; with a receipt's hash it is `svc-anchor-v2`. */
export const formatAnchorStatement = (anchor: AnchorSubject): string =>
  toCanonicalJson({
    entity_id: anchor.entityId,
    event: anchor.event,
    fingerprint: anchor.fingerprint,
    origin_domain: anchor.originDomain,
    ...(anchor.receiptHash === undefined ? { schema: "svc-anchor-v1" } : { receipt_hash: anchor.receiptHash, schema: "svc-anchor-v2" }),
    timestamp: toIso(anchor.at),
  });

/** Hex SHA-256 of the statement: the same for every ledger. */
export const hashStatement = (statement: string): string => sha256Hex(statement);

export interface CheckpointSubject {
  readonly origin: string;
  /** The signed note as the log made it: text, blank line and the log's own signature, without cosignatures. */
  readonly note: string;
  /** Decimal. */
  readonly size: string;
  /** Hex. */
  readonly root: string;
  /** Hex and decimal: the tree of chain heads the checkpoint covers. */
  readonly headsRoot: string;
  readonly headsSize: string;
  /** Start of the quarter of an hour: it makes the heartbeat of an idle log a statement of its own. */
  readonly at: Instant;
}

/** Canonical JSON of the statement `svc-checkpoint-v1`. */
export const formatCheckpointStatement = (checkpoint: CheckpointSubject): string =>
  toCanonicalJson({
    checkpoint_hash: sha256Hex(checkpoint.note),
    heads_root: checkpoint.headsRoot,
    heads_size: checkpoint.headsSize,
    origin: checkpoint.origin,
    root: checkpoint.root,
    schema: "svc-checkpoint-v1",
    size: checkpoint.size,
    timestamp: toIso(checkpoint.at),
  });

const timestampSuffixPattern = /"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"\}$/;
const entryKeyTimeLength = 8;
const entryKeyLength = 32;

/**
 * 32 bytes that are the same for the same entry and differ for different ones: the time that the statement names (0 for any
 * other entry) and 24 bytes of its SHA-256. Statements come in about the order of their times, so an index over these keys
 * grows at its end; over bare hashes it would be written all over, and an append would cost more the larger the log is.
 */
export const computeEntryKey = (entry: Uint8Array): Uint8Array => {
  const time = timestampSuffixPattern.exec(new TextDecoder().decode(entry.subarray(-64)))?.[1];
  const key = new Uint8Array(entryKeyLength);
  const instant = time === undefined ? Number.NaN : Date.parse(time);
  if (instant >= 0) new DataView(key.buffer).setBigUint64(0, BigInt(instant));
  key.set(sha256(entry).subarray(0, entryKeyLength - entryKeyTimeLength), entryKeyTimeLength);
  return key;
};
