// The interface that every transparency ledger implements, and the results that it returns.
import type { Receipt } from "./receipt.ts";

export interface LedgerSubmission {
  /** The statement as canonical JSON. */
  readonly statement: string;
  /** The SHA-256 of the statement, as hex. */
  readonly entryHash: string;
  /** The result of `prepare`; null before the first submission. It is stored so that every retry sends exactly the same bytes. */
  readonly prepared: string | null;
}

/** The last verified tree of a ledger. Its properties are text, so that they can be stored. */
export interface VerifiedTree {
  /** The number of entries, as a decimal string. */
  readonly size: string;
  /** The root hash, in base64. */
  readonly root: string;
  readonly note: string;
}

/** A temporary failure. The caller should try again after `retryAfterMs` milliseconds, if this is set. */
export interface RetryableFailure {
  readonly ok: false;
  readonly kind: "retry";
  readonly code: string;
  readonly retryAfterMs?: number;
}

/** The ledger refused the statement. Retrying soon would not help. */
export interface PermanentFailure {
  readonly ok: false;
  readonly kind: "permanent";
  readonly code: string;
}

/** Two signed notes that prove that the ledger presented two different histories. */
export interface ForkEvidence {
  readonly ok: false;
  readonly kind: "fork";
  readonly evidence: { readonly old: string; readonly new: string };
}

export type LedgerFailure = RetryableFailure | PermanentFailure;
export type SubmissionOutcome =
  | { readonly ok: true; readonly receipt: Receipt; readonly verifiedTree: VerifiedTree }
  | LedgerFailure
  | ForkEvidence;

export type LedgerReadResult<T> = ({ readonly ok: true } & T) | LedgerFailure | ForkEvidence;

export interface LedgerAdapter {
  /** The ledger's ID, `<kind>:<origin>`, as in anchors and receipts. */
  readonly id: string;
  readonly origin: string;
  readonly role: "primary" | "mirror";
  /** The maximum number of statements per `submit` call. */
  readonly maxPerBatch: number;
  /** Builds the request text. The text can differ between two calls for the same statement, so the caller stores it before sending it. */
  readonly prepare: (submission: LedgerSubmission) => Promise<string>;
  /** Returns one outcome per submission, in order. `ok` means that the receipt passed every check. */
  readonly submit: (
    batch: readonly LedgerSubmission[],
    lastSeen: VerifiedTree | null,
    signal: AbortSignal,
  ) => Promise<readonly SubmissionOutcome[]>;
  /** Returns the newest signed tree, checked for consistency with `lastSeen`. */
  readonly getHead: (
    lastSeen: VerifiedTree | null,
    signal: AbortSignal,
  ) => Promise<LedgerReadResult<{ readonly verifiedTree: VerifiedTree }>>;
  /** Returns an inclusion proof that the caller must check. */
  readonly getInclusionProof: (
    index: bigint,
    size: bigint,
    signal: AbortSignal,
  ) => Promise<LedgerReadResult<{ readonly hashes: readonly Uint8Array[] }>>;
  /** Returns a consistency proof that the caller must check. */
  readonly getConsistencyProof: (
    from: bigint,
    to: bigint,
    signal: AbortSignal,
  ) => Promise<LedgerReadResult<{ readonly hashes: readonly Uint8Array[] }>>;
}

/**
 * Third-party evidence about a checkpoint: a timestamp, or the cosignature of a witness. A witness cosigns only if the checkpoint is
 * consistent with the history that it has seen.
 */
export type Attestation =
  | { readonly kind: "rfc3161"; readonly tsa: string; readonly time: string; readonly token: string; readonly spki_sha256: string }
  | { readonly kind: "cosignature"; readonly name: string; readonly time: string; readonly line: string };
