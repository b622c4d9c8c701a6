// Verifies receipts from a Rekor v2 log offline. This is separate from receipt.ts because Rekor can sign checkpoints with ECDSA, and
// because Rekor's leaves contain our signature on the statement instead of the statement.
import { toBase64, fromBase64, concatBytes, toHex, encodeUtf8 } from "../bytes.ts";
import { sha256 } from "../hash.ts";
import { fail } from "../result.ts";
import { isKeyName, keyKinds, parseVkey, createVerifierKey, formatVkey, type Note, type NoteFault } from "./note.ts";
import {
  verifyCheckpointSigner,
  verifyReceipt,
  type Receipt,
  type ReceiptVerdict,
  type SignedRootVerdict,
  type TrustedLogKey,
} from "./receipt.ts";
import { createRekorLeafCheck, type RekorCrypto } from "./rekor.ts";
import { ed25519KeyFromSpki, parseSpki } from "./spki.ts";

/** The kind byte of ECDSA keys in their one-line form (c2sp.org/signed-note). */
const ecdsaKeyKind = 0x02;

interface RekorKey {
  readonly name: string;
  readonly keyId: string;
  readonly isSignatureValid: (crypto: RekorCrypto, text: string, signature: Uint8Array) => Promise<boolean>;
}

/** Computes the ID of an ECDSA key. It does not depend on the key's name, unlike the ID of an Ed25519 key. */
const computeEcdsaKeyId = (spki: Uint8Array): string => toHex(sha256(spki).subarray(0, 4));

/** Returns the one-line form of a log's SPKI key: Ed25519, or ECDSA on P-256 or P-384. Returns null for other keys. */
export const vkeyFromSpki = (origin: string, spki: Uint8Array): string | null => {
  const publicKey = ed25519KeyFromSpki(spki);
  if (publicKey !== null) return formatVkey(createVerifierKey(origin, keyKinds.log, publicKey));
  if (parseSpki(spki)?.kind !== "ecdsa") return null;
  return `${origin}+${computeEcdsaKeyId(spki)}+${toBase64(concatBytes(new Uint8Array([ecdsaKeyKind]), spki))}`;
};

const parseRekorKey = (vkey: string): RekorKey | null => {
  const ed25519 = parseVkey(vkey);
  if (ed25519 !== null) {
    const { name, keyId, kind, publicKey } = ed25519;
    const isSignatureValid: RekorKey["isSignatureValid"] = async (crypto, text, signature) =>
      signature.length === 64 && crypto.verifyEd25519(publicKey, encodeUtf8(text), signature);
    return kind === keyKinds.log ? { name, keyId, isSignatureValid } : null;
  }
  const [, name = "", keyId = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes?.[0] !== ecdsaKeyKind || !isKeyName(name)) return null;
  const spki = bytes.slice(1);
  if (parseSpki(spki)?.kind !== "ecdsa" || computeEcdsaKeyId(spki) !== keyId) return null;
  return { name, keyId, isSignatureValid: (crypto, text, signature) => crypto.verifyEcdsa(spki, encodeUtf8(text), signature) };
};

/** Returns true for the one-line form of a key that Rekor can use to sign checkpoints. */
export const isRekorVkey = (vkey: string): boolean => parseRekorKey(vkey) !== null;

/** Returns the trusted keys that signed. Returns a fault if one of their signatures is invalid, or if none of them signed. */
const findSigners = async (
  crypto: RekorCrypto,
  note: Note,
  trust: readonly TrustedLogKey[],
): Promise<readonly TrustedLogKey[] | NoteFault> => {
  const signers: TrustedLogKey[] = [];
  for (const { name, keyId, bytes } of note.signatures) {
    for (const trusted of trust) {
      const key = parseRekorKey(trusted.vkey);
      if (key?.name !== name || key.keyId !== keyId) continue;
      if (!(await key.isSignatureValid(crypto, note.text, bytes))) return "bad_signature";
      signers.push(trusted);
    }
  }
  return signers.length === 0 ? "no_known_signature" : signers;
};

/** Verifies that the checkpoint is signed by a key that is trusted for the checkpoint's origin. */
export const verifyRekorCheckpoint = (
  crypto: RekorCrypto,
  signedRoot: string,
  trust: readonly TrustedLogKey[],
): Promise<SignedRootVerdict> => verifyCheckpointSigner(signedRoot, (note) => findSigners(crypto, note, trust));

export interface RekorTrust {
  readonly logs: readonly TrustedLogKey[];
  /** Our anchor keys as SPKI, in base64. */
  readonly anchorKeys: readonly string[];
}

/**
 * Like `verifyReceipt`, but for Rekor's signatures and leaf format. Fails with `leaf_mismatch` for a receipt from another kind of ledger.
 */
export const verifyRekorReceipt = async (
  crypto: RekorCrypto,
  receipt: Receipt,
  statement: Uint8Array,
  trust: RekorTrust,
): Promise<ReceiptVerdict> => {
  const verdict = await verifyReceipt(crypto, receipt, statement, {
    trustedKeys: trust.logs,
    verifySignedRoot: (signedRoot, keys) => verifyRekorCheckpoint(crypto, signedRoot, keys),
    isLeafBoundToStatement: createRekorLeafCheck(crypto, trust.anchorKeys),
  });
  return verdict.ok && receipt.kind !== "rekor2" ? fail("leaf_mismatch") : verdict;
};
