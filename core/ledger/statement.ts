// The statements that are sent to a ledger. Each is text that contains only hashes and generic metadata, never personal data.
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
  /** The entity's fingerprint. Statements about later events contain it too. */
  readonly fingerprint: string;
  readonly originDomain: string;
  /** The time of the event. For an issuance, this is the timestamp in the fingerprint. */
  readonly at: Instant;
  /**
   * The SHA-256, as hex, of the signed receipt that lists the recipients. Set only for a withdrawal of consent for individual recipients.
   */
  readonly receiptHash?: string;
}

/** Returns the canonical JSON of `svc-anchor-v1`, or of `svc-anchor-v2` if there is a receipt hash. */
export const formatAnchorStatement = (anchor: AnchorSubject): string =>
  toCanonicalJson({
    entity_id: anchor.entityId,
    event: anchor.event,
    fingerprint: anchor.fingerprint,
    origin_domain: anchor.originDomain,
    ...(anchor.receiptHash === undefined ? { schema: "svc-anchor-v1" } : { receipt_hash: anchor.receiptHash, schema: "svc-anchor-v2" }),
    timestamp: toIso(anchor.at),
  });

/** Returns the SHA-256 of a statement as hex. It is the same for every ledger. */
export const hashStatement = (statement: string): string => sha256Hex(statement);

export interface CheckpointSubject {
  readonly origin: string;
  /** The signed note: its text, an empty line and the log's own signature, without cosignatures. */
  readonly note: string;
  /** The number of entries, as a decimal string. */
  readonly size: string;
  /** The root hash, as hex. */
  readonly root: string;
  /** The tree of chain heads that the checkpoint covers: its root in hex, and its size as a decimal string. */
  readonly headsRoot: string;
  readonly headsSize: string;
  /** The start of the 15-minute interval. Because of it, the statements of two intervals differ even if the log has not changed. */
  readonly at: Instant;
}

/** Returns the canonical JSON of the `svc-checkpoint-v1` statement. */
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
const entryKeyLength = 24;

/**
 * Returns a 24-byte key that identifies an entry: the timestamp in the statement (0 for other entries) and 16 bytes of the entry's SHA-256.
 * The time comes first, so that new keys are added at the end of a sorted index. If the key were only a hash, every append would touch
 * random pages of the index.
 */
export const computeEntryKey = (entry: Uint8Array): Uint8Array => {
  const time = timestampSuffixPattern.exec(new TextDecoder().decode(entry.subarray(-64)))?.[1];
  const key = new Uint8Array(entryKeyLength);
  const instant = time === undefined ? Number.NaN : Date.parse(time);
  if (instant >= 0) new DataView(key.buffer).setBigUint64(0, BigInt(instant));
  key.set(sha256(entry).subarray(0, entryKeyLength - entryKeyTimeLength), entryKeyTimeLength);
  return key;
};
