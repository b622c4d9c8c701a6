// c2sp.org/tlog-proof@v1: an entry's index, its inclusion proof and the signed checkpoint, as one string that can be verified offline.
import { toBase64, fromBase64, areBytesEqual } from "../bytes.ts";
import { fail, type Verdict } from "../result.ts";
import {
  parseCheckpoint,
  verifyCheckpoint,
  type Checkpoint,
  type CheckpointFault,
  type CheckpointTrust,
  type CosignedCheckpoint,
} from "./checkpoint.ts";
import { parseCount, hashLength, getInclusionProofLength, hashLeaf, computeRootFromInclusion, type NodeHash } from "./merkle.ts";
import type { NoteCrypto } from "./note.ts";

const proofHeader = "c2sp.org/tlog-proof@v1";

export interface TlogProof {
  readonly index: bigint;
  /** The audit path from the leaf to the root: the sibling hashes, lowest first. */
  readonly hashes: readonly Uint8Array[];
  /** The signed checkpoint, unchanged. */
  readonly checkpoint: string;
  /** Data that the creator of the proof added. No signature covers it. */
  readonly extra?: Uint8Array;
}

export const formatTlogProof = ({ index, hashes, checkpoint, extra }: TlogProof): string =>
  [
    proofHeader,
    ...(extra === undefined ? [] : [`extra ${toBase64(extra)}`]),
    `index ${index}`,
    ...hashes.map(toBase64),
    "",
    checkpoint,
  ].join("\n");

const hashLinePattern = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/; // 32 bytes take 43 characters; the last one encodes four bits

/** Like `formatTlogProof`, for hashes that are already in base64. Returns null if the index or a hash is malformed. */
export const formatTlogProofFromLines = (index: string, hashes: readonly string[], checkpoint: string): string | null =>
  parseCount(index) === null || !hashes.every((hash) => hashLinePattern.test(hash))
    ? null
    : [proofHeader, `index ${index}`, ...hashes, "", checkpoint].join("\n");

/** Parses a proof. Returns null unless the text is exactly what `formatTlogProof` returns for the parsed proof. */
export const parseTlogProof = (text: string): TlogProof | null => {
  const blank = text.indexOf("\n\n");
  if (blank < 0) return null;
  const [first, ...lines] = text.slice(0, blank).split("\n");
  if (first !== proofHeader) return null;
  const extraLine = lines[0]?.startsWith("extra ") ? lines.shift() : undefined;
  const extra = extraLine === undefined ? undefined : fromBase64(extraLine.slice("extra ".length));
  const [, digits = ""] = /^index ([0-9]+)$/.exec(lines.shift() ?? "") ?? [];
  const index = parseCount(digits);
  const hashes = lines.map(fromBase64);
  const checkpoint = text.slice(blank + 2);
  if (extra === null || extra?.length === 0 || index === null || parseCheckpoint(checkpoint) === null) return null;
  if (!hashes.every((hash) => hash?.length === hashLength)) return null;
  return { index, hashes: hashes as Uint8Array[], checkpoint, ...(extra === undefined ? {} : { extra }) };
};

export type InclusionFault = "index_outside_tree" | "proof_length" | "root_mismatch";

/** Returns null if the proof leads from the leaf hash to the checkpoint's root, and otherwise the fault. */
export const findInclusionFault = (
  claim: { readonly leaf: Uint8Array; readonly index: bigint; readonly hashes: readonly Uint8Array[] },
  head: Pick<Checkpoint, "size" | "root">,
  hash?: NodeHash,
): InclusionFault | null => {
  if (claim.index < 0n || claim.index >= head.size) return "index_outside_tree";
  if (claim.hashes.length !== getInclusionProofLength(claim.index, head.size)) return "proof_length";
  const root = computeRootFromInclusion({ leaf: claim.leaf, index: claim.index, size: head.size, proof: claim.hashes }, hash);
  return root !== null && areBytesEqual(root, head.root) ? null : "root_mismatch";
};

export type TlogProofFault = "proof_malformed" | CheckpointFault | InclusionFault;
export type TlogProofVerdict = Verdict<CosignedCheckpoint & { index: bigint }, TlogProofFault>;

/** Verifies that the trusted log contains `entry` at the index in the proof. */
export const verifyTlogProof = async (
  crypto: NoteCrypto,
  text: string,
  entry: Uint8Array,
  trust: CheckpointTrust,
): Promise<TlogProofVerdict> => {
  const proof = parseTlogProof(text);
  if (proof === null) return fail("proof_malformed");
  const verdict = await verifyCheckpoint(crypto, proof.checkpoint, trust);
  if (!verdict.ok) return verdict;
  const fault = findInclusionFault(
    { leaf: hashLeaf(entry), index: proof.index, hashes: proof.hashes },
    verdict.checkpoint,
    crypto.hashNode,
  );
  return fault === null ? { ...verdict, index: proof.index } : fail(fault);
};
