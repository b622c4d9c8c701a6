// Ledger statements whose checkpoint was attested by third parties: the form that is published with an anchor, and the form in evidence
// packs.
import { fromBase64 } from "../bytes.ts";
import type { Attestation } from "../ledger/adapter.ts";

export interface AttestedStatement {
  /** The checkpoint with the ledger's own signature. A timestamp covers exactly these bytes. */
  readonly note: string;
  /** The audit path from the statement's leaf to the checkpoint's root: the sibling hashes, lowest first, in base64. */
  readonly inclusionProof: readonly string[];
  readonly attestations: readonly Attestation[];
}

/** A ledger checkpoint attested by third parties, and the proof that its tree contains the statement. */
export interface PackedAttestation extends Pick<AttestedStatement, "note" | "inclusionProof"> {
  /** The signature lines of the witnesses, each with its line break. */
  readonly cosignatures: readonly string[];
  /** The timestamp reply in DER; null if there is none. */
  readonly tsr: Uint8Array | null;
}

type TimestampAttestation = Extract<Attestation, { readonly kind: "rfc3161" }>;

export const listCosignatureLines = ({ attestations }: AttestedStatement): string[] =>
  attestations.flatMap((attestation) => (attestation.kind === "cosignature" ? [attestation.line] : []));

/** Returns the earliest timestamp, or null if there is none. Times can be compared as text, because they all have the same ISO format. */
export const findEarliestTimestamp = ({ attestations }: AttestedStatement): TimestampAttestation | null =>
  attestations
    .filter((attestation): attestation is TimestampAttestation => attestation.kind === "rfc3161")
    .sort((a, b) => (a.time < b.time ? -1 : 1))
    .at(0) ?? null;

/** Returns an attested statement in the form that evidence packs contain. */
export const toPackedAttestation = (attested: AttestedStatement): PackedAttestation => {
  const stamp = findEarliestTimestamp(attested);
  return {
    note: attested.note,
    inclusionProof: attested.inclusionProof,
    cosignatures: listCosignatureLines(attested),
    tsr: stamp === null ? null : fromBase64(stamp.token),
  };
};
