// A principal's audit trail: a page of entries, newest first, with everything needed to verify them. The entries use the property names
// that are hashed.
import type { JsonObject } from "../canonical-json.ts";
import type { PublishedAnchor } from "../certificates/published-certificate.ts";
import type { Instant } from "../time.ts";
import type { HashedEntry } from "./chain.ts";
import type { AuditProof } from "./proof.ts";

export interface CommittedPayload {
  readonly salt: string;
  readonly payload: JsonObject;
}

export interface TrailEntry extends HashedEntry {
  /** The entry's index in the log, as a decimal string. */
  readonly log_index: string;
  /** The payload and its salt; null after an erasure, which keeps the entry and its hashes. */
  readonly committed: CommittedPayload | null;
}

/** An entry that is committed but not yet in its chain, so it has no sequence number and no proof. */
export interface PendingEntry {
  readonly at: Instant;
  readonly type: string;
  readonly entityType: string;
  readonly entityId: string;
}

export interface AuditPage {
  readonly chainIndex: number;
  readonly entries: readonly TrailEntry[];
  readonly head: { readonly seq: string; readonly hash: string };
  readonly nextBeforeSeq: string | null;
  readonly proof: AuditProof;
}

export interface AuditTrail {
  readonly chain: string;
  /** The page; null if the chain has no entries yet, or if no page was requested. */
  readonly page: AuditPage | null;
  readonly pending: readonly PendingEntry[];
  /** The anchor of the newest audit log checkpoint that is in the ledger; null if there is none. */
  readonly anchor: PublishedAnchor | null;
}
