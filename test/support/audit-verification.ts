// Verifies audit chains and their proofs as the API's audit routes return them. Does not use the verifier of evidence packs.
import { areBytesEqual, encodeUtf8, fromBase64, fromHex, toHex } from "../../core/bytes.ts";
import { isJsonObject, toCanonicalJson } from "../../core/canonical-json.ts";
import { hashAuditEntry, type ChainHead, type ChainPosition, type HashedEntry } from "../../core/audit/chain.ts";
import { hashHeadsRecord, serializeHeadLeaf, type HeadsRecord } from "../../core/audit/heads.ts";
import type { AuditProof } from "../../core/audit/proof.ts";
import { parseIJson } from "../../core/i-json.ts";
import { verifyCheckpoint, type CheckpointFault, type CheckpointTrust, type CosignedCheckpoint } from "../../core/ledger/checkpoint.ts";
import { computeRootFromInclusion, hashLeaf, parseCount } from "../../core/ledger/merkle.ts";
import type { NoteCrypto } from "../../core/ledger/note.ts";
import { verifyTlogProof, type TlogProofFault } from "../../core/ledger/tlog-proof.ts";
import { fail, type Verdict } from "../../core/result.ts";

type ChainFault = "entry_malformed" | "wrong_chain" | "seq_gap" | "prev_mismatch" | "hash_mismatch";
type ChainVerdict =
  | { readonly ok: true; readonly head: ChainHead }
  | { readonly ok: false; readonly fault: ChainFault /** The sequence number expected at this position. */; readonly seq: bigint };

/**
 * Verifies `entries`, oldest first, starting from `before` (the genesis head for a whole chain). Returns the final head, or the first
 * position where an entry was changed, removed, added or moved.
 */
export const verifyEntries = (chain: string, before: ChainHead, entries: readonly HashedEntry[]): ChainVerdict => {
  let head = before;
  for (const entry of entries) {
    const seq = head.seq + 1n;
    const failAt = (fault: ChainFault): ChainVerdict => ({ ok: false, fault, seq });
    const claimed = parseCount(entry.seq);
    if (claimed === null) return failAt("entry_malformed");
    if (entry.chain !== chain) return failAt("wrong_chain");
    if (claimed !== seq) return failAt("seq_gap");
    if (entry.prev_hash !== head.hash) return failAt("prev_mismatch");
    if (entry.hash !== hashAuditEntry(entry)) return failAt("hash_mismatch");
    head = { seq, hash: entry.hash };
  }
  return { ok: true, head };
};

type AuditProofFault =
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

/** The log proves that the chain has every entry up to `complete`. `complete` is null if the log has not proven this yet. */
type AuditProofVerdict = Verdict<CosignedCheckpoint & { complete: { readonly seq: bigint; readonly at: string } | null }, AuditProofFault>;

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
 * Verifies the proof of a chain's head. `hashOfEntry` returns the hash of the reader's entry with a sequence number, if there is one. The
 * fault is `entries_missing` if the log has recorded more entries than the reader has, and `leaf_mismatch` if it has recorded another hash.
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
  const recordEntry = hashHeadsRecord(proof.heads.record);
  const recorded = await verifyTlogProof(crypto, proof.heads.record_tlog_proof, recordEntry, trust);
  if (!recorded.ok) return fail(`record:${recorded.fault}`);
  if (recorded.index.toString() !== record.log_size) return fail("record_malformed");

  const known = parseHeadLeaf(proof.heads.leaf, position.chain);
  const path = proof.heads.path.map(fromBase64);
  if (known === null || !path.every((hash) => hash !== null)) return fail("leaf_malformed");
  const leaf = hashLeaf(encodeUtf8(serializeHeadLeaf(position.chain, known)));
  const root = computeRootFromInclusion({ leaf, index: position.chainIndex, size, proof: path });
  if (root === null || toHex(root) !== record.heads_root) return fail("heads_mismatch");
  if (known.seq > head.seq) return fail("entries_missing");
  if (hashOfEntry(known.seq) !== known.hash) return fail("leaf_mismatch");
  return { ok: true, checkpoint, cosignatures, complete: { seq: known.seq, at: record.at } };
};
