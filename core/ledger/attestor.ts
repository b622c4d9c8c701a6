// What the service asks of those who attest a checkpoint: an authority that stamps its time, a witness that has seen no other
// history. Neither is needed for a statement to be anchored; they only ever add.
import type { Attestation, LedgerFailure } from "./adapter.ts";

export interface AttestationRequest {
  /** The stored note: text, empty line, the log's own signature; no cosignatures. What is stamped are exactly these bytes. */
  readonly note: string;
  readonly size: bigint;
  /** Size of the newest checkpoint of this log that this witness has cosigned; 0 when none is known. */
  readonly witnessedSize: bigint;
  /** Leads from the tree of that size to the checkpoint's. */
  readonly getConsistencyProof: (fromSize: bigint) => Promise<readonly Uint8Array[]>;
}

/**
 * `verified: false`: a token that is right in itself, by a key that is not pinned; kept, and for a person to look at. `retry`
 * and `permanent` as for ledgers. After `ok` a witness has cosigned this size.
 */
export type AttestationOutcome = { readonly ok: true; readonly attestation: Attestation; readonly verified: boolean } | LedgerFailure;

export interface Attestor {
  readonly kind: Attestation["kind"];
  /** Of the authority or the witness, as attestations carry it. */
  readonly name: string;
  readonly attest: (checkpoint: AttestationRequest, signal: AbortSignal) => Promise<AttestationOutcome>;
}
