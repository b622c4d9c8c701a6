// A receipt: everything a ledger answered that proves a statement is in it, stored as canonical JSON and checked offline
// with the pinned keys alone. The order of the checks is fixed, so that the same defect has the same name everywhere.
import { base64Of, bytesOfBase64, hexOf, isSameBytes, utf8 } from "../bytes.ts";
import { canonicalJson, isObject, type Json } from "../canonical-json.ts";
import { parseIJson } from "../i-json.ts";
import { isoOf, type Instant } from "../time.ts";
import { fail, type Verdict } from "../result.ts";
import { parseCheckpointText, type Checkpoint } from "./checkpoint.ts";
import { isInUse, isIsoTime, type KeyWindow } from "./key-window.ts";
import { countOf, hashBytes, isConsistent, leafHash, type Hash, type TreeHead } from "./merkle.ts";
import { keyKinds, parseNote, parseVkey, verifyNote, type Note, type NoteCrypto, type NoteFault, type VerifierKey } from "./note.ts";
import { inclusionFault, tlogProofTextOfLines, type InclusionFault } from "./tlog-proof.ts";

export type LedgerKind = "tlog" | "rekor2";

/** A log's key and when it was in use; configured, never fetched from the log. Several for rotation. */
export interface TrustedLogKey extends KeyWindow {
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

const kinds: readonly string[] = ["tlog", "rekor2"] satisfies LedgerKind[];
const textMembers = [
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
const members: readonly string[] = [...textMembers, "inclusion_proof", "v"];

export const receiptText = (receipt: Receipt): string => canonicalJson(receipt as unknown as Json);

const isReceipt = (record: Json): record is Json & Receipt => {
  if (!isObject(record)) return false;
  const names = Object.keys(record).filter((name) => name !== "leaf_body");
  return (
    names.length === members.length &&
    members.every((name) => Object.hasOwn(record, name)) &&
    textMembers.every((name) => typeof record[name] === "string") &&
    (!Object.hasOwn(record, "leaf_body") || typeof record.leaf_body === "string") &&
    record.v === 1 &&
    kinds.includes(record.kind as string) &&
    Array.isArray(record.inclusion_proof) &&
    record.inclusion_proof.every((hash) => typeof hash === "string")
  );
};

/** Null unless `receiptText` prints exactly this text for the same receipt: a receipt has one spelling. */
export const parseReceipt = (text: string): Receipt | null => {
  if (!text.isWellFormed()) return null;
  const parsed = parseIJson(utf8(text));
  return parsed.ok && isReceipt(parsed.value) && canonicalJson(parsed.value) === text ? parsed.value : null;
};

/** What a ledger answered, as a receipt: nothing of it is checked yet. `leaf`: of a ledger that wraps the statement. */
export const receiptOf = (
  hash: Hash,
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
  entry_hash: hexOf(hash(utf8(statement))),
  leaf_index: found.index.toString(),
  leaf_hash: base64Of(leafHash(hash, found.leaf ?? utf8(statement))),
  ...(found.leaf !== undefined && { leaf_body: base64Of(found.leaf) }),
  inclusion_proof: found.hashes.map(base64Of),
  signed_root: found.note,
  tree_size: found.checkpoint.size.toString(),
  root_hash: base64Of(found.checkpoint.root),
  submitted_at: isoOf(found.submittedAt),
  verified_at: isoOf(found.verifiedAt),
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
  readonly trust: readonly TrustedLogKey[];
  /** Reads a checkpoint that one of these keys must have signed, for logs that sign otherwise than with Ed25519. */
  readonly checkpointBy?: (signedRoot: string, keys: readonly TrustedLogKey[]) => Promise<SignedRootVerdict>;
  /** The last verified tree of this ledger, and the proof between it and the receipt's; the smaller tree comes first in it. */
  readonly lastSeen?: { readonly head: TreeHead; readonly proof: readonly Uint8Array[] };
  /** Shows that a leaf of the ledger's own making is about the statement. Needed for ledgers that wrap what they log. */
  readonly bindsLeaf?: (leafBody: Uint8Array, statement: Uint8Array) => Promise<boolean>;
}

/** The keys that were in use at a time. */
export const keysInUse = (keys: readonly TrustedLogKey[], at: string): TrustedLogKey[] => keys.filter((key) => isInUse(key, at));

/** The checkpoint in a note, if a key that is pinned for its origin is among those that `signersOf` says signed it. */
export const checkpointSignedBy = async (
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
const checkpointByLogKey = (crypto: NoteCrypto, signedRoot: string, pinned: readonly TrustedLogKey[]): Promise<SignedRootVerdict> =>
  checkpointSignedBy(signedRoot, async (note) => {
    const keys = pinned.map((key) => parseVkey(crypto.sha256, key.vkey)).filter((key): key is VerifierKey => key?.kind === keyKinds.log);
    const signed = await verifyNote(crypto, note, keys);
    if (!signed.ok) return signed.fault;
    return pinned.filter(({ vkey }) => signed.signatures.some(({ key }) => vkey.startsWith(`${key.name}+${key.keyId}+`)));
  });

/** As `verifyReceipt` reads a checkpoint by default, each once: the receipts of one batch all end in the same. */
export const rememberingCheckpoints = (crypto: NoteCrypto): NonNullable<ReceiptContext["checkpointBy"]> => {
  const verdicts = new Map<string, Promise<SignedRootVerdict>>();
  return (signedRoot, keys) => {
    const question = [signedRoot, ...keys.map(({ vkey }) => vkey)].join("\n");
    const verdict = verdicts.get(question) ?? checkpointByLogKey(crypto, signedRoot, keys);
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
  const index = countOf(receipt.leaf_index);
  const leaf = bytesOfBase64(receipt.leaf_hash);
  const hashes = receipt.inclusion_proof.map(bytesOfBase64);
  const body = receipt.leaf_body === undefined ? undefined : bytesOfBase64(receipt.leaf_body);
  if (index === null || leaf?.length !== hashBytes || body === null) return fail("receipt_malformed");
  if (!hashes.every((hash) => hash?.length === hashBytes)) return fail("receipt_malformed");
  if (!isIsoTime(receipt.submitted_at) || !isIsoTime(receipt.verified_at)) return fail("receipt_malformed");
  if (receipt.submitted_at > receipt.verified_at) return fail("receipt_malformed");

  const pinned = keysInUse(context.trust, receipt.verified_at);
  const read = context.checkpointBy ?? ((signedRoot, keys) => checkpointByLogKey(crypto, signedRoot, keys));
  const signed = await read(receipt.signed_root, pinned);
  if (!signed.ok) return signed;
  const { checkpoint } = signed;
  const { origin } = checkpoint;
  if (
    receipt.ledger !== `${receipt.kind}:${origin}` ||
    receipt.tx_ref !== `${origin}#${index}` ||
    receipt.tree_size !== checkpoint.size.toString() ||
    receipt.root_hash !== base64Of(checkpoint.root)
  ) {
    return fail("reference_mismatch");
  }

  const excluded = inclusionFault(crypto, { leaf, index, hashes: hashes as Uint8Array[] }, checkpoint);
  if (excluded !== null) return fail(excluded);

  if (receipt.entry_hash !== hexOf(crypto.sha256(statement))) return fail("leaf_mismatch");
  if (receipt.kind === "tlog" ? body !== undefined : body === undefined) return fail("leaf_mismatch");
  if (!isSameBytes(leaf, leafHash(crypto.sha256, body ?? statement))) return fail("leaf_mismatch");
  if (body !== undefined && !(await context.bindsLeaf?.(body, statement))) return fail("leaf_mismatch");

  if (context.lastSeen !== undefined) {
    const { head, proof } = context.lastSeen;
    const [older, newer] = head.size <= checkpoint.size ? [head, checkpoint] : [checkpoint, head];
    if (!isConsistent(crypto.sha256, older, newer, proof)) return fail("fork");
  }
  return { ok: true, checkpoint, index };
};

/** The receipt's proof in the text form other tools read; null for what is no receipt of ours. */
export const receiptProofText = (receipt: Receipt): string | null =>
  tlogProofTextOfLines(receipt.leaf_index, receipt.inclusion_proof, receipt.signed_root);
