// What the service asks of any ledger: the seam between the work list of anchors and the ledgers of the world.
import type { Receipt } from "./receipt.ts";

/** One statement on its way into one ledger. */
export interface LedgerSubmission {
  readonly anchorId: string;
  /** Canonical JSON of the statement. */
  readonly statement: string;
  /** Hex SHA-256 of the statement. */
  readonly entryHash: string;
  /** What `prepare` made, kept before the first send: a resend is the same bytes. */
  readonly prepared: string | null;
}

/** The last tree of a ledger that passed every check; text, so that it can be stored as it is. */
export interface VerifiedTree {
  /** Decimal. */
  readonly size: string;
  /** Base64. */
  readonly root: string;
  readonly note: string;
}

/** Nothing is known to be wrong; ask again, not before `afterMs` when given. */
export interface RetryableFailure {
  readonly ok: false;
  readonly kind: "retry";
  readonly code: string;
  readonly retryAfterMs?: number;
}
/** This statement will never be taken as it is. */
export interface PermanentFailure {
  readonly ok: false;
  readonly kind: "permanent";
  readonly code: string;
}
/** The ledger showed two histories; both notes are evidence. */
export interface ForkEvidence {
  readonly ok: false;
  readonly kind: "fork";
  readonly evidence: { readonly old: string; readonly new: string };
}
export type LedgerFailure = RetryableFailure | PermanentFailure;
export type SubmissionOutcome =
  | { readonly ok: true; readonly receipt: Receipt; readonly seen: VerifiedTree }
  | LedgerFailure
  | ForkEvidence;

/** What asking a log for something about its tree can come to. */
export type LedgerReadResult<T> = ({ readonly ok: true } & T) | LedgerFailure | ForkEvidence;

export interface LedgerAdapter {
  /** `<kind>:<origin>`, as in anchors and receipts. */
  readonly id: string;
  readonly role: "primary" | "mirror";
  /** At most so many statements a call of `submit`. */
  readonly maxPerBatch: number;
  /** The text that will be sent; the same statement may be prepared differently twice, so it is kept first. */
  readonly prepare: (submission: LedgerSubmission) => Promise<string>;
  /** One outcome a submission, in their order. Nothing is answered `ok` that did not pass every check. */
  readonly submit: (
    batch: readonly LedgerSubmission[],
    lastSeen: VerifiedTree | null,
    signal: AbortSignal,
  ) => Promise<readonly SubmissionOutcome[]>;
  /** The newest tree that the ledger has signed, if it goes on from the last one seen. */
  readonly getHead: (lastSeen: VerifiedTree | null, signal: AbortSignal) => Promise<LedgerReadResult<{ readonly seen: VerifiedTree }>>;
  /** Hashes that lead from the entry at `index` to the root of a tree of this ledger; whether they do is for the caller to check. */
  readonly getInclusionProof: (
    index: bigint,
    size: bigint,
    signal: AbortSignal,
  ) => Promise<LedgerReadResult<{ readonly hashes: readonly Uint8Array[] }>>;
  /** Hashes that lead from one tree of this ledger to a later one, unchecked. */
  readonly getConsistencyProof: (
    from: bigint,
    to: bigint,
    signal: AbortSignal,
  ) => Promise<LedgerReadResult<{ readonly hashes: readonly Uint8Array[] }>>;
}

/** Evidence about a checkpoint from somebody else: a time stamp, or a witness that saw no other history. */
export type Attestation =
  | { readonly kind: "rfc3161"; readonly tsa: string; readonly time: string; readonly token: string; readonly spki_sha256: string }
  | { readonly kind: "cosignature"; readonly name: string; readonly time: string; readonly line: string };
