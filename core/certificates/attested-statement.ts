// A statement in a checkpoint of the ledger that others attested: as it is published beside the anchor, and as it is packed.
import { fromBase64 } from "../bytes.ts";
import type { Attestation } from "../ledger/adapter.ts";
import { parseCheckpoint } from "../ledger/checkpoint.ts";
import type { PackedAttestation } from "./evidence-parts.ts";

export interface AttestedStatement {
  /** The ledger's own note; what is stamped are exactly these bytes. */
  readonly note: string;
  /** Base64, from the leaf's sibling up to the child of the root. */
  readonly inclusionProof: readonly string[];
  /** At least one. */
  readonly attestations: readonly Attestation[];
}

type TimestampAttestation = Extract<Attestation, { readonly kind: "rfc3161" }>;

const listCosignatureLines = ({ attestations }: AttestedStatement): string[] =>
  attestations.flatMap((one) => (one.kind === "cosignature" ? [one.line] : []));

/** The earliest time stamp; null when there is none. ISO times in one spelling sort as text. */
const findEarliestTimestamp = ({ attestations }: AttestedStatement): TimestampAttestation | null =>
  attestations
    .filter((one): one is TimestampAttestation => one.kind === "rfc3161")
    .sort((a, b) => (a.time < b.time ? -1 : 1))
    .at(0) ?? null;

/** Member `attested` of an anchor. An authority's time goes before a witness's: stamping times is what it is for. */
export const toAttestedView = (attested: AttestedStatement) => {
  const stamp = findEarliestTimestamp(attested);
  return {
    tree_size: parseCheckpoint(attested.note)?.size.toString() ?? null,
    signed_root: attested.note + listCosignatureLines(attested).join(""),
    inclusion_proof: attested.inclusionProof,
    time: stamp?.time ?? attested.attestations.map(({ time }) => time).sort()[0] ?? null,
    time_source: stamp === null ? ("cosignature" as const) : ("rfc3161" as const),
    attestations: attested.attestations.map((one) =>
      one.kind === "rfc3161"
        ? { kind: one.kind, tsa: one.tsa, time: one.time, token: one.token }
        : { kind: one.kind, name: one.name, time: one.time },
    ),
  };
};

export const toPackedAttestation = (attested: AttestedStatement): PackedAttestation => {
  const stamp = findEarliestTimestamp(attested);
  return {
    note: attested.note,
    inclusionProof: attested.inclusionProof,
    cosignatures: listCosignatureLines(attested),
    tsr: stamp === null ? null : fromBase64(stamp.token),
  };
};
