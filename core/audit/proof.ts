// The proof delivered with a principal's audit entries, and its verification. It shows that the log contains the newest entry, and that
// nothing was left out up to the last record of heads. Together with the chain hashes (chain.ts), this is the complete verification.
import { fromBase64, fromHex, toHex, areBytesEqual, encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson, isJsonObject } from "../canonical-json.ts";
import { parseIJson } from "../i-json.ts";
import { verifyCheckpoint, type CheckpointFault, type CheckpointTrust, type CosignedCheckpoint } from "../ledger/checkpoint.ts";
import { parseCount, hashLeaf, computeRootFromInclusion } from "../ledger/merkle.ts";
import type { NoteCrypto } from "../ledger/note.ts";
import { verifyTlogProof, type TlogProofFault } from "../ledger/tlog-proof.ts";
import { fail, type Verdict } from "../result.ts";
import type { ChainHead, ChainPosition } from "./chain.ts";
import { serializeHeadLeaf, hashHeadsRecord, type HeadsRecord } from "./heads.ts";

/** The proof of completeness, with the property names that are published. */
export interface HeadsProof {
  /** The record of heads, exactly as it was hashed into the log. */
  readonly record: string;
  readonly record_tlog_proof: string;
  /** The chain's own leaf at the time of the record. */
  readonly leaf: string;
  /** The hashes from the leaf's sibling up to the child of the heads root, in base64. */
  readonly path: readonly string[];
  readonly size: string;
}

export interface AuditProof {
  readonly origin: string;
  /** The signed checkpoint from the newest entry's proof. It may have additional cosignatures. */
  readonly checkpoint: string;
  /** The proof of the newest entry. */
  readonly head_tlog_proof: string;
  /** The proof of completeness; null if the chain is newer than the last record of heads. */
  readonly heads: HeadsProof | null;
}

export type AuditProofFault =
  | "origin_mismatch"
  | `checkpoint:${CheckpointFault}`
  | "checkpoint_mismatch"
  | `head:${TlogProofFault}`
  | `record:${TlogProofFault}`
  | "record_malformed"
  | "leaf_malformed"
  | "heads_mismatch"
  | "entries_missing"
  | "leaf_mismatch";

/** `complete`: the log proves that no entries up to this one are missing. */
export type AuditProofVerdict = Verdict<
  CosignedCheckpoint & { complete: { readonly seq: bigint; readonly at: string } | null },
  AuditProofFault
>;

/** Parses a canonical object with exactly these string properties. Returns null for anything else. */
const parseExactObject = <N extends string>(text: string, names: readonly N[]): { readonly [name in N]: string } | null => {
  const parsed = text.isWellFormed() ? parseIJson(encodeUtf8(text)) : null;
  if (!parsed?.ok || !isJsonObject(parsed.value)) return null;
  const record = parsed.value;
  const isExact = Object.keys(record).length === names.length && names.every((name) => typeof record[name] === "string");
  return isExact && toCanonicalJson(record) === text ? (record as { readonly [name in N]: string }) : null;
};

const parseHeadsRecord = (text: string): HeadsRecord | null => {
  const record = parseExactObject(text, ["at", "heads_root", "heads_size", "log_size", "schema"]);
  return record?.schema === "svc-heads-v1" ? (record as unknown as HeadsRecord) : null;
};

const parseHeadLeaf = (text: string, chain: string): ChainHead | null => {
  const leaf = parseExactObject(text, ["chain", "head", "seq"]);
  const seq = leaf === null ? null : parseCount(leaf.seq);
  return leaf === null || seq === null || leaf.chain !== chain ? null : { seq, hash: leaf.head };
};

/**
 * Verifies the proof. `head` is the head of the verified entries. `hashOfEntry` returns the hash of the entry with that seq, if the reader
 * has it. If the leaf counts more entries than were shown, the fault is `entries_missing`. If it contains the hash of a different entry,
 * the fault is `leaf_mismatch`.
 */
export const verifyAuditProof = async (
  crypto: NoteCrypto,
  trust: CheckpointTrust,
  position: ChainPosition,
  head: ChainHead,
  hashOfEntry: (seq: bigint) => string | undefined,
  proof: AuditProof,
): Promise<AuditProofVerdict> => {
  if (proof.origin !== trust.origin) return fail("origin_mismatch");
  const signed = await verifyCheckpoint(crypto, proof.checkpoint, trust);
  if (!signed.ok) return fail(`checkpoint:${signed.fault}`);
  const { checkpoint, cosignatures } = signed;
  const headProof = await verifyTlogProof(crypto, proof.head_tlog_proof, fromHex(head.hash) ?? new Uint8Array(0), trust);
  if (!headProof.ok) return fail(`head:${headProof.fault}`);
  if (headProof.checkpoint.size !== checkpoint.size || !areBytesEqual(headProof.checkpoint.root, checkpoint.root))
    return fail("checkpoint_mismatch");
  if (proof.heads === null) return { ok: true, checkpoint, cosignatures, complete: null };

  const record = parseHeadsRecord(proof.heads.record);
  const size = record === null ? null : parseCount(record.heads_size);
  if (record === null || size === null || proof.heads.size !== record.heads_size) return fail("record_malformed");
  const recordEntry = hashHeadsRecord(crypto.sha256, proof.heads.record);
  const recorded = await verifyTlogProof(crypto, proof.heads.record_tlog_proof, recordEntry, trust);
  if (!recorded.ok) return fail(`record:${recorded.fault}`);
  if (recorded.index.toString() !== record.log_size) return fail("record_malformed");

  const known = parseHeadLeaf(proof.heads.leaf, position.chain);
  const path = proof.heads.path.map(fromBase64);
  if (known === null || !path.every((hash) => hash !== null)) return fail("leaf_malformed");
  const leaf = hashLeaf(crypto.sha256, encodeUtf8(serializeHeadLeaf(position.chain, known)));
  const root = computeRootFromInclusion(crypto.sha256, { leaf, index: position.chainIndex, size, proof: path });
  if (root === null || toHex(root) !== record.heads_root) return fail("heads_mismatch");
  if (known.seq > head.seq) return fail("entries_missing");
  if (hashOfEntry(known.seq) !== known.hash) return fail("leaf_mismatch");
  return { ok: true, checkpoint, cosignatures, complete: { seq: known.seq, at: record.at } };
};
