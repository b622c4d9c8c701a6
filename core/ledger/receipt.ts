// Receipts: the ledger's proof that it contains a statement. A receipt is stored as canonical JSON and verified offline with pinned keys.
// The checks run in a fixed order, so that the same defect always results in the same fault.
import { toBase64, fromBase64, areBytesEqual, encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson, isJsonObject, type Json } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import { parseIJson } from "../i-json.ts";
import { toIso, type Instant } from "../time.ts";
import { fail, type Verdict } from "../result.ts";
import { parseCheckpointText, type Checkpoint } from "./checkpoint.ts";
import { isKeyInUse, isIsoTime, type KeyValidity } from "./key-validity.ts";
import { parseCount, hashLength, isConsistent, hashLeaf, type TreeHead } from "./merkle.ts";
import { keyKinds, parseNote, parseVkey, verifyNote, type Note, type NoteCrypto, type NoteFault, type VerifierKey } from "./note.ts";
import { findInclusionFault, formatTlogProofFromLines, type InclusionFault } from "./tlog-proof.ts";

export type LedgerKind = "tlog" | "rekor2";

/**
 * A log's key with its validity period. Both come from the configuration, never from the log. A log has several keys if its key was
 * rotated.
 */
export interface TrustedLogKey extends KeyValidity {
  readonly origin: string;
  readonly vkey: string;
}

/** A receipt, with the property names of the stored and published JSON. */
export interface Receipt {
  readonly v: 1;
  /** The ID of the ledger, `<kind>:<origin>`. */
  readonly ledger: string;
  readonly kind: LedgerKind;
  /** The reference to the entry, `<origin>#<index>`. */
  readonly tx_ref: string;
  /** The SHA-256 of the statement, as hex. */
  readonly entry_hash: string;
  readonly leaf_index: string;
  /** The Merkle tree's leaf hash, in base64. */
  readonly leaf_hash: string;
  /** The leaf in base64, for a ledger that wraps the statement; absent if the leaf is the statement itself. */
  readonly leaf_body?: string;
  /** The audit path from the leaf to the root: the sibling hashes, lowest first, in base64. */
  readonly inclusion_proof: readonly string[];
  /** The signed checkpoint, unchanged. */
  readonly signed_root: string;
  readonly tree_size: string;
  /** The root hash, in base64. */
  readonly root_hash: string;
  /**
   * When the statement was sent, and when the receipt passed the last check. Both times are by this service's clock; no third party attests
   * them.
   */
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

/** Parses a receipt. Returns null unless the text is exactly what `formatReceipt` returns for the parsed receipt. */
export const parseReceipt = (text: string): Receipt | null => {
  if (!text.isWellFormed()) return null;
  const parsed = parseIJson(encodeUtf8(text));
  return parsed.ok && isReceipt(parsed.value) && toCanonicalJson(parsed.value) === text ? parsed.value : null;
};

/**
 * Builds a receipt from the data of a ledger's response, without verifying it. `leaf` is set only for a ledger that wraps the statement.
 */
export const buildReceipt = (
  statement: string,
  response: {
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
  ledger: `${response.kind}:${response.origin}`,
  kind: response.kind,
  tx_ref: `${response.origin}#${response.index}`,
  entry_hash: sha256Hex(statement),
  leaf_index: response.index.toString(),
  leaf_hash: toBase64(hashLeaf(response.leaf ?? encodeUtf8(statement))),
  ...(response.leaf !== undefined && { leaf_body: toBase64(response.leaf) }),
  inclusion_proof: response.hashes.map(toBase64),
  signed_root: response.note,
  tree_size: response.checkpoint.size.toString(),
  root_hash: toBase64(response.checkpoint.root),
  submitted_at: toIso(response.submittedAt),
  verified_at: toIso(response.verifiedAt),
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
  /** For logs with other signature algorithms: replaces the Ed25519 check of the checkpoint. */
  readonly verifySignedRoot?: (signedRoot: string, keys: readonly TrustedLogKey[]) => Promise<SignedRootVerdict>;
  /**
   * The last verified tree of this ledger, and the consistency proof between that tree and the receipt's tree. Either tree may be the
   * larger one.
   */
  readonly lastVerifiedTree?: { readonly head: TreeHead; readonly proof: readonly Uint8Array[] };
  /** Returns whether a leaf that wraps the statement commits to it. This function is required for ledgers that wrap statements. */
  readonly isLeafBoundToStatement?: (leafBody: Uint8Array, statement: Uint8Array) => Promise<boolean>;
}

export const filterKeysInUse = (keys: readonly TrustedLogKey[], at: string): TrustedLogKey[] => keys.filter((key) => isKeyInUse(key, at));

/** Parses the checkpoint in a note. At least one of the signers that `findSigners` returns must be pinned for the checkpoint's origin. */
export const verifyCheckpointSigner = async (
  signedRoot: string,
  findSigners: (note: Note) => Promise<readonly TrustedLogKey[] | NoteFault>,
): Promise<SignedRootVerdict> => {
  const note = parseNote(signedRoot);
  if (note === null) return fail("note_malformed");
  const signers = await findSigners(note);
  if (typeof signers === "string") return fail(signers);
  const checkpoint = parseCheckpointText(note.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  return signers.some(({ origin }) => origin === checkpoint.origin) ? { ok: true, checkpoint } : fail("origin_mismatch");
};

const verifyCheckpointByLogKey = (crypto: NoteCrypto, signedRoot: string, pinned: readonly TrustedLogKey[]): Promise<SignedRootVerdict> =>
  verifyCheckpointSigner(signedRoot, async (note) => {
    const keys = pinned.map((key) => parseVkey(key.vkey)).filter((key): key is VerifierKey => key?.kind === keyKinds.log);
    const signed = await verifyNote(crypto, note, keys);
    if (!signed.ok) return signed.fault;
    return pinned.filter(({ vkey }) => signed.signatures.some(({ key }) => vkey.startsWith(`${key.name}+${key.keyId}+`)));
  });

/** Caches the default checkpoint verification, because all receipts in a batch have the same checkpoint. */
export const memoizeCheckpointVerifier = (crypto: NoteCrypto): NonNullable<ReceiptContext["verifySignedRoot"]> => {
  const verdicts = new Map<string, Promise<SignedRootVerdict>>();
  return (signedRoot, keys) => {
    const cacheKey = [signedRoot, ...keys.map(({ vkey }) => vkey)].join("\n");
    const verdict = verdicts.get(cacheKey) ?? verifyCheckpointByLogKey(crypto, signedRoot, keys);
    verdicts.set(cacheKey, verdict);
    return verdict;
  };
};

/**
 * Verifies a receipt. The checks run in this order: format, note, signature by a pinned key that was in use at `verified_at`, origin,
 * references, index, proof length, root, leaf bound to the statement, consistency with the last verified tree.
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

  const inclusionFault = findInclusionFault({ leaf, index, hashes: hashes as Uint8Array[] }, checkpoint, crypto.hashNode);
  if (inclusionFault !== null) return fail(inclusionFault);

  if (receipt.entry_hash !== sha256Hex(statement)) return fail("leaf_mismatch");
  if (receipt.kind === "tlog" ? body !== undefined : body === undefined) return fail("leaf_mismatch");
  if (!areBytesEqual(leaf, hashLeaf(body ?? statement))) return fail("leaf_mismatch");
  if (body !== undefined && !(await context.isLeafBoundToStatement?.(body, statement))) return fail("leaf_mismatch");

  if (context.lastVerifiedTree !== undefined) {
    const { head, proof } = context.lastVerifiedTree;
    const [older, newer] = head.size <= checkpoint.size ? [head, checkpoint] : [checkpoint, head];
    if (!isConsistent(older, newer, proof)) return fail("fork");
  }
  return { ok: true, checkpoint, index };
};

/** Returns the receipt's proof as c2sp.org/tlog-proof text, for other tools, or null if the receipt is malformed. */
export const formatReceiptProof = (receipt: Receipt): string | null =>
  formatTlogProofFromLines(receipt.leaf_index, receipt.inclusion_proof, receipt.signed_root);
