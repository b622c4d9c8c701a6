// A receipt: everything a ledger answered that proves a statement is in it, stored as canonical JSON and checked offline
// with the pinned keys alone. The order of the checks is fixed, so that the same defect has the same name everywhere.
import { toBase64, fromBase64, toHex, areBytesEqual, encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson, isJsonObject, type Json } from "../canonical-json.ts";
import { parseIJson } from "../i-json.ts";
import { toIso, type Instant } from "../time.ts";
import { fail, type Verdict } from "../result.ts";
import { parseCheckpointText, type Checkpoint } from "./checkpoint.ts";
import { isKeyInUse, isIsoTime, type KeyValidity } from "./key-validity.ts";
import { parseCount, hashLength, isConsistent, hashLeaf, type HashFunction, type TreeHead } from "./merkle.ts";
import { keyKinds, parseNote, parseVkey, verifyNote, type Note, type NoteCrypto, type NoteFault, type VerifierKey } from "./note.ts";
import { findInclusionFault, formatTlogProofFromLines, type InclusionFault } from "./tlog-proof.ts";

export type LedgerKind = "tlog" | "rekor2";

/** A log's key and when it was in use; configured, never fetched from the log. Several for rotation. */
export interface TrustedLogKey extends KeyValidity {
  readonly origin: string;
  readonly vkey: string;
}

/** Member names as stored and published. */
export interface Receipt {
  readonly v: 1;
  /** `<kind>:<origin>` */
  readonly ledger: string;
  readonly kind: LedgerKind;
  /** `<origin>#<index>` */
  readonly tx_ref: string;
  /** Hex SHA-256 of the statement. */
  readonly entry_hash: string;
  readonly leaf_index: string;
  /** Base64 of the Merkle tree's leaf hash. */
  readonly leaf_hash: string;
  /** Base64 of the leaf, where a ledger wraps the statement in a leaf of its own; absent where the leaf is the statement. */
  readonly leaf_body?: string;
  /** Base64, from the leaf's sibling up to the child of the root. */
  readonly inclusion_proof: readonly string[];
  /** The signed checkpoint, verbatim. */
  readonly signed_root: string;
  readonly tree_size: string;
  /** Base64. */
  readonly root_hash: string;
  /** Our clock: when the ledger was asked, and when its answer had passed every check. Nobody else vouches for them. */
  readonly submitted_at: string;
  readonly verified_at: string;
}

const ledgerKinds: readonly string[] = ["tlog", "rekor2"] satisfies LedgerKind[];
const textMemberNames = [
  "entry_hash",
  "kind",
  "leaf_hash",
  "leaf_index",
  "ledger",
  "root_hash",
  "signed_root",
  "submitted_at",
  "tree_size",
  "tx_ref",
  "verified_at",
] as const;
const requiredMemberNames: readonly string[] = [...textMemberNames, "inclusion_proof", "v"];

export const formatReceipt = (receipt: Receipt): string => toCanonicalJson(receipt as unknown as Json);

const isReceipt = (record: Json): record is Json & Receipt => {
  if (!isJsonObject(record)) return false;
  const names = Object.keys(record).filter((name) => name !== "leaf_body");
  return (
    names.length === requiredMemberNames.length &&
    requiredMemberNames.every((name) => Object.hasOwn(record, name)) &&
    textMemberNames.every((name) => typeof record[name] === "string") &&
    (!Object.hasOwn(record, "leaf_body") || typeof record.leaf_body === "string") &&
    record.v === 1 &&
    ledgerKinds.includes(record.kind as string) &&
    Array.isArray(record.inclusion_proof) &&
    record.inclusion_proof.every((hash) => typeof hash === "string")
  );
};

/** Null unless `receiptText` prints exactly this text for the same receipt: a receipt has one spelling. */
export const parseReceipt = (text: string): Receipt | null => {
  if (!text.isWellFormed()) return null;
  const parsed = parseIJson(encodeUtf8(text));
  return parsed.ok && isReceipt(parsed.value) && toCanonicalJson(parsed.value) === text ? parsed.value : null;
};

/** What a ledger answered, as a receipt: nothing of it is checked yet. `leaf`: of a ledger that wraps the statement. */
export const buildReceipt = (
  hash: HashFunction,
  statement: string,
  found: {
    readonly kind: LedgerKind;
    readonly origin: string;
    readonly index: bigint;
    readonly leaf?: Uint8Array;
    readonly hashes: readonly Uint8Array[];
    readonly note: string;
    readonly checkpoint: TreeHead;
    readonly submittedAt: Instant;
    readonly verifiedAt: Instant;
  },
): Receipt => ({
  v: 1,
  ledger: `${found.kind}:${found.origin}`,
  kind: found.kind,
  tx_ref: `${found.origin}#${found.index}`,
  entry_hash: toHex(hash(encodeUtf8(statement))),
  leaf_index: found.index.toString(),
  leaf_hash: toBase64(hashLeaf(hash, found.leaf ?? encodeUtf8(statement))),
  ...(found.leaf !== undefined && { leaf_body: toBase64(found.leaf) }),
  inclusion_proof: found.hashes.map(toBase64),
  signed_root: found.note,
  tree_size: found.checkpoint.size.toString(),
  root_hash: toBase64(found.checkpoint.root),
  submitted_at: toIso(found.submittedAt),
  verified_at: toIso(found.verifiedAt),
});

export type ReceiptFault =
  | "receipt_malformed"
  | "note_malformed"
  | NoteFault
  | "checkpoint_malformed"
  | "origin_mismatch"
  | "reference_mismatch"
  | InclusionFault
  | "leaf_mismatch"
  | "fork";

export type ReceiptVerdict = Verdict<{ checkpoint: Checkpoint; index: bigint }, ReceiptFault>;
export type SignedRootVerdict = Verdict<{ checkpoint: Checkpoint }, ReceiptFault>;

export interface ReceiptContext {
  readonly trustedKeys: readonly TrustedLogKey[];
  /** Reads a checkpoint that one of these keys must have signed, for logs that sign otherwise than with Ed25519. */
  readonly verifySignedRoot?: (signedRoot: string, keys: readonly TrustedLogKey[]) => Promise<SignedRootVerdict>;
  /** The last verified tree of this ledger, and the proof between it and the receipt's; the smaller tree comes first in it. */
  readonly lastVerifiedTree?: { readonly head: TreeHead; readonly proof: readonly Uint8Array[] };
  /** Shows that a leaf of the ledger's own making is about the statement. Needed for ledgers that wrap what they log. */
  readonly isLeafBoundToStatement?: (leafBody: Uint8Array, statement: Uint8Array) => Promise<boolean>;
}

/** The keys that were in use at a time. */
export const filterKeysInUse = (keys: readonly TrustedLogKey[], at: string): TrustedLogKey[] => keys.filter((key) => isKeyInUse(key, at));

/** The checkpoint in a note, if a key that is pinned for its origin is among those that `signersOf` says signed it. */
export const verifyCheckpointSigner = async (
  signedRoot: string,
  signersOf: (note: Note) => Promise<readonly TrustedLogKey[] | NoteFault>,
): Promise<SignedRootVerdict> => {
  const note = parseNote(signedRoot);
  if (note === null) return fail("note_malformed");
  const signers = await signersOf(note);
  if (typeof signers === "string") return fail(signers);
  const checkpoint = parseCheckpointText(note.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  return signers.some(({ origin }) => origin === checkpoint.origin) ? { ok: true, checkpoint } : fail("origin_mismatch");
};

/** By one of the log's Ed25519 keys. */
const verifyCheckpointByLogKey = (crypto: NoteCrypto, signedRoot: string, pinned: readonly TrustedLogKey[]): Promise<SignedRootVerdict> =>
  verifyCheckpointSigner(signedRoot, async (note) => {
    const keys = pinned.map((key) => parseVkey(crypto.sha256, key.vkey)).filter((key): key is VerifierKey => key?.kind === keyKinds.log);
    const signed = await verifyNote(crypto, note, keys);
    if (!signed.ok) return signed.fault;
    return pinned.filter(({ vkey }) => signed.signatures.some(({ key }) => vkey.startsWith(`${key.name}+${key.keyId}+`)));
  });

/** As `verifyReceipt` reads a checkpoint by default, each once: the receipts of one batch all end in the same. */
export const memoizeCheckpointVerifier = (crypto: NoteCrypto): NonNullable<ReceiptContext["verifySignedRoot"]> => {
  const verdicts = new Map<string, Promise<SignedRootVerdict>>();
  return (signedRoot, keys) => {
    const question = [signedRoot, ...keys.map(({ vkey }) => vkey)].join("\n");
    const verdict = verdicts.get(question) ?? verifyCheckpointByLogKey(crypto, signedRoot, keys);
    verdicts.set(question, verdict);
    return verdict;
  };
};

/**
 * In this order: shape, note, signature by a key pinned for that time, origin, references, index, proof length, root, leaf
 * bound to the statement, consistency with the last tree seen.
 */
export const verifyReceipt = async (
  crypto: NoteCrypto,
  receipt: Receipt,
  statement: Uint8Array,
  context: ReceiptContext,
): Promise<ReceiptVerdict> => {
  const index = parseCount(receipt.leaf_index);
  const leaf = fromBase64(receipt.leaf_hash);
  const hashes = receipt.inclusion_proof.map(fromBase64);
  const body = receipt.leaf_body === undefined ? undefined : fromBase64(receipt.leaf_body);
  if (index === null || leaf?.length !== hashLength || body === null) return fail("receipt_malformed");
  if (!hashes.every((hash) => hash?.length === hashLength)) return fail("receipt_malformed");
  if (!isIsoTime(receipt.submitted_at) || !isIsoTime(receipt.verified_at)) return fail("receipt_malformed");
  if (receipt.submitted_at > receipt.verified_at) return fail("receipt_malformed");

  const pinned = filterKeysInUse(context.trustedKeys, receipt.verified_at);
  const read = context.verifySignedRoot ?? ((signedRoot, keys) => verifyCheckpointByLogKey(crypto, signedRoot, keys));
  const signed = await read(receipt.signed_root, pinned);
  if (!signed.ok) return signed;
  const { checkpoint } = signed;
  const { origin } = checkpoint;
  if (
    receipt.ledger !== `${receipt.kind}:${origin}` ||
    receipt.tx_ref !== `${origin}#${index}` ||
    receipt.tree_size !== checkpoint.size.toString() ||
    receipt.root_hash !== toBase64(checkpoint.root)
  ) {
    return fail("reference_mismatch");
  }

  const excluded = findInclusionFault(crypto, { leaf, index, hashes: hashes as Uint8Array[] }, checkpoint);
  if (excluded !== null) return fail(excluded);

  if (receipt.entry_hash !== toHex(crypto.sha256(statement))) return fail("leaf_mismatch");
  if (receipt.kind === "tlog" ? body !== undefined : body === undefined) return fail("leaf_mismatch");
  if (!areBytesEqual(leaf, hashLeaf(crypto.sha256, body ?? statement))) return fail("leaf_mismatch");
  if (body !== undefined && !(await context.isLeafBoundToStatement?.(body, statement))) return fail("leaf_mismatch");

  if (context.lastVerifiedTree !== undefined) {
    const { head, proof } = context.lastVerifiedTree;
    const [older, newer] = head.size <= checkpoint.size ? [head, checkpoint] : [checkpoint, head];
    if (!isConsistent(crypto.sha256, older, newer, proof)) return fail("fork");
  }
  return { ok: true, checkpoint, index };
};

/** The receipt's proof in the text form other tools read; null for what is no receipt of ours. */
export const formatReceiptProof = (receipt: Receipt): string | null =>
  formatTlogProofFromLines(receipt.leaf_index, receipt.inclusion_proof, receipt.signed_root);
