// Receipts of a Rekor v2 log, checked offline: its checkpoints may be signed with ECDSA, and its leaf wraps the statement in our
// signature of it. All else is receipt.ts.
import { base64Of, bytesOfBase64, concatBytes, hexOf, utf8 } from "../bytes.ts";
import { fail } from "../result.ts";
import type { Hash } from "./merkle.ts";
import { isKeyName, keyKinds, parseVkey, verifierKey, vkeyOf, type Note, type NoteFault } from "./note.ts";
import {
  checkpointSignedBy,
  verifyReceipt,
  type Receipt,
  type ReceiptVerdict,
  type SignedRootVerdict,
  type TrustedLogKey,
} from "./receipt.ts";
import { bindsRekorLeaf, type RekorCrypto } from "./rekor.ts";
import { ed25519OfSpki, keyOfSpki } from "./spki.ts";

/** Byte of ECDSA keys in their one-line form (c2sp.org/signed-note); only Rekor uses them here. */
const ecdsaKind = 0x02;

interface RekorKey {
  readonly name: string;
  readonly keyId: string;
  readonly isBy: (crypto: RekorCrypto, text: string, signature: Uint8Array) => Promise<boolean>;
}

const ecdsaKeyId = (hash: Hash, spki: Uint8Array): string => hexOf(hash(spki).subarray(0, 4)); // the name is no part of it

/** The one-line form of a log's key as trust roots publish it (SPKI): Ed25519, or ECDSA on P-256 or P-384. Null for others. */
export const vkeyOfSpki = (hash: Hash, origin: string, spki: Uint8Array): string | null => {
  const publicKey = ed25519OfSpki(spki);
  if (publicKey !== null) return vkeyOf(verifierKey(hash, origin, keyKinds.log, publicKey));
  if (keyOfSpki(spki)?.kind !== "ecdsa") return null;
  return `${origin}+${ecdsaKeyId(hash, spki)}+${base64Of(concatBytes(new Uint8Array([ecdsaKind]), spki))}`;
};

/** Null unless it is the one-line form of a key that Rekor signs checkpoints with. */
const parseRekorKey = (hash: Hash, vkey: string): RekorKey | null => {
  const ed25519 = parseVkey(hash, vkey);
  if (ed25519 !== null) {
    const { name, keyId, kind, publicKey } = ed25519;
    const isBy: RekorKey["isBy"] = async (crypto, text, signature) =>
      signature.length === 64 && crypto.verifyEd25519(publicKey, utf8(text), signature);
    return kind === keyKinds.log ? { name, keyId, isBy } : null;
  }
  const [, name = "", keyId = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const bytes = bytesOfBase64(encoded);
  if (bytes?.[0] !== ecdsaKind || !isKeyName(name)) return null;
  const spki = bytes.slice(1);
  if (keyOfSpki(spki)?.kind !== "ecdsa" || ecdsaKeyId(hash, spki) !== keyId) return null;
  return { name, keyId, isBy: (crypto, text, signature) => crypto.verifyEcdsa(spki, utf8(text), signature) };
};

/** True for the one-line form of a key that Rekor signs checkpoints with. */
export const isRekorVkey = (hash: Hash, vkey: string): boolean => parseRekorKey(hash, vkey) !== null;

/** The trusted keys that signed; a fault when one is claimed and did not, or none is there. */
const signersOf = async (
  crypto: RekorCrypto,
  note: Note,
  trust: readonly TrustedLogKey[],
): Promise<readonly TrustedLogKey[] | NoteFault> => {
  const signers: TrustedLogKey[] = [];
  for (const { name, keyId, bytes } of note.signatures) {
    for (const trusted of trust) {
      const key = parseRekorKey(crypto.sha256, trusted.vkey);
      if (key?.name !== name || key.keyId !== keyId) continue;
      if (!(await key.isBy(crypto, note.text, bytes))) return "bad_signature";
      signers.push(trusted);
    }
  }
  return signers.length === 0 ? "no_known_signature" : signers;
};

/** The checkpoint in a signed note, if a key trusted for its origin signed it. */
export const verifyRekorCheckpoint = (
  crypto: RekorCrypto,
  signedRoot: string,
  trust: readonly TrustedLogKey[],
): Promise<SignedRootVerdict> => checkpointSignedBy(signedRoot, (note) => signersOf(crypto, note, trust));

export interface RekorTrust {
  readonly logs: readonly TrustedLogKey[];
  /** Our own anchor keys, as SPKI in base64. */
  readonly anchorKeys: readonly string[];
}

/** `verifyReceipt` with what Rekor does differently. */
export const verifyRekorReceipt = async (
  crypto: RekorCrypto,
  receipt: Receipt,
  statement: Uint8Array,
  trust: RekorTrust,
): Promise<ReceiptVerdict> => {
  const verdict = await verifyReceipt(crypto, receipt, statement, {
    trust: trust.logs,
    checkpointBy: (signedRoot, keys) => verifyRekorCheckpoint(crypto, signedRoot, keys),
    bindsLeaf: bindsRekorLeaf(crypto, trust.anchorKeys),
  });
  return verdict.ok && receipt.kind !== "rekor2" ? fail("leaf_mismatch") : verdict;
};
