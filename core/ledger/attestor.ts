// The interface of attestors: timestamp authorities and witnesses. Anchoring a statement does not require attestations; they only add
// evidence.
import type { Attestation, LedgerFailure } from "./adapter.ts";

export interface AttestationRequest {
  /** The stored note: its text, an empty line and the log's own signature, without cosignatures. A timestamp covers exactly these bytes. */
  readonly note: string;
  readonly size: bigint;
  /** The size of the newest checkpoint of this log that the witness has cosigned; 0 if unknown. */
  readonly witnessedSize: bigint;
  /** Returns the consistency proof from the tree of size `fromSize` to this checkpoint. */
  readonly getConsistencyProof: (fromSize: bigint) => Promise<readonly Uint8Array[]>;
}

/**
 * The result of a request. `verified` is false if a timestamp token is valid but its key is not pinned. The token is then stored for manual
 * review. `ok` from a witness means that the witness has cosigned this checkpoint.
 */
export type AttestationOutcome = { readonly ok: true; readonly attestation: Attestation; readonly verified: boolean } | LedgerFailure;

export interface Attestor {
  readonly kind: Attestation["kind"];
  /** The name of the authority or witness, as in its attestations. */
  readonly name: string;
  readonly attest: (checkpoint: AttestationRequest, signal: AbortSignal) => Promise<AttestationOutcome>;
}
