// The only thing that leaves for the ledger: six text members, hashes and generic metadata (SPEC, What the service does 5).
import { canonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import { isoOf, type Instant } from "../time.ts";

export type AnchoredEvent = "certificate.issued" | "certificate.revoked" | "share.created" | "share.revoked" | "business.ceased";

export interface AnchorSubject {
  readonly event: AnchoredEvent;
  readonly entityId: string;
  /** The entity's original fingerprint, also when it is revoked or ceased. */
  readonly fingerprint: string;
  readonly originDomain: string;
  /** Business time of the event; for an issuance the timestamp of the fingerprint. */
  readonly at: Instant;
}

/** Canonical JSON of the statement `svc-anchor-v1`. */
export const anchorStatement = (anchor: AnchorSubject): string =>
  canonicalJson({
    entity_id: anchor.entityId,
    event: anchor.event,
    fingerprint: anchor.fingerprint,
    origin_domain: anchor.originDomain,
    schema: "svc-anchor-v1",
    timestamp: isoOf(anchor.at),
  });

/** Hex SHA-256 of the statement: the same for every ledger. */
export const entryHash = (statement: string): string => sha256Hex(statement);

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
export const checkpointStatement = (checkpoint: CheckpointSubject): string =>
  canonicalJson({
    checkpoint_hash: sha256Hex(checkpoint.note),
    heads_root: checkpoint.headsRoot,
    heads_size: checkpoint.headsSize,
    origin: checkpoint.origin,
    root: checkpoint.root,
    schema: "svc-checkpoint-v1",
    size: checkpoint.size,
    timestamp: isoOf(checkpoint.at),
  });
