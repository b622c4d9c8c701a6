// A principal's audit trail: a page of entries, newest first, and everything to check them with. An entry's members are named
// and spelt as they are hashed.
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
  /** Decimal. */
  readonly log_index: string;
  /** Null once erased: the entry and its hashes stay. */
  readonly committed: CommittedPayload | null;
}

/** An entry that is committed and not in its chain yet: it has no number, and nothing proves it. */
export interface PendingEntry {
  readonly at: Instant;
  readonly type: string;
  readonly entityType: string;
  readonly entityId: string;
}

/** What the chain holds by now, and its proof. */
export interface AuditPage {
  readonly chainIndex: number;
  /** Newest first. */
  readonly entries: readonly TrailEntry[];
  readonly head: { readonly seq: string; readonly hash: string };
  readonly nextBeforeSeq: string | null;
  readonly proof: AuditProof;
}

export interface AuditTrail {
  readonly chain: string;
  /** Null: the chain has no entry yet, or it was asked about nothing. */
  readonly page: AuditPage | null;
  readonly pending: readonly PendingEntry[];
  /** The newest checkpoint of the audit log in the ledger. */
  readonly anchor: PublishedAnchor | null;
}
