// Public keys as certificates and Rekor carry them (SubjectPublicKeyInfo), and signatures by them: ECDSA on P-256 and P-384,
// RSA with PKCS #1 v1.5. WebCrypto does the arithmetic and is handed in; here is how its spelling and everybody else's meet.
import type { Bytes } from "../hash.ts";
import { der, derOid, ecdsaRawOf, oidOf, parseDer, tags, walk } from "./der.ts";

type KeyAlgorithm = { readonly name: "ECDSA"; readonly namedCurve: string } | { readonly name: "RSASSA-PKCS1-v1_5"; readonly hash: string };

/** As much of `crypto.subtle` as checking a signature needs. */
export interface SignatureCrypto {
  digest(algorithm: string, data: Bytes): Promise<ArrayBuffer>;
  importKey(format: "spki", key: Bytes, algorithm: KeyAlgorithm, extractable: false, usages: "verify"[]): Promise<unknown>;
  verify(algorithm: { readonly name: string; readonly hash: string }, key: unknown, signature: Bytes, data: Bytes): Promise<boolean>;
}

const ecPublicKey = "2a8648ce3d0201";
export const rsaEncryption = "2a864886f70d010101";
const p256 = "2a8648ce3d030107";
const ed25519 = "2b6570";
const curves: Readonly<Record<string, { readonly name: string; readonly size: number }>> = {
  [p256]: { name: "P-256", size: 32 },
  "2b81040022": { name: "P-384", size: 48 },
};

export type SpkiKey = { readonly kind: "rsa" } | { readonly kind: "ecdsa"; readonly curve: string; readonly size: number };

/** Null for keys of other kinds. */
export const keyOfSpki = (spki: Uint8Array): SpkiKey | null => {
  const algorithm = walk(walk(parseDer(spki) ?? undefined).next(tags.sequence));
  const oid = oidOf(algorithm.next(tags.oid));
  if (oid === rsaEncryption) return { kind: "rsa" };
  const curve = curves[oidOf(algorithm.next(tags.oid)) ?? ""];
  return oid === ecPublicKey && curve !== undefined ? { kind: "ecdsa", curve: curve.name, size: curve.size } : null;
};

/** Whether the key signed `data`. False too for a key that is no key, and for a signature that is not spelt as one. */
export const isSignedBy = async (
  subtle: SignatureCrypto,
  spki: Uint8Array,
  signed: { readonly hash: string; readonly signature: Uint8Array; readonly data: Uint8Array },
): Promise<boolean> => {
  const kind = keyOfSpki(spki);
  if (kind === null) return false;
  const { hash } = signed;
  const algorithm: KeyAlgorithm = kind.kind === "rsa" ? { name: "RSASSA-PKCS1-v1_5", hash } : { name: "ECDSA", namedCurve: kind.curve };
  const signature = kind.kind === "rsa" ? new Uint8Array(signed.signature) : ecdsaRawOf(signed.signature, kind.size);
  if (signature === null) return false;
  let key: unknown;
  try {
    key = await subtle.importKey("spki", new Uint8Array(spki), algorithm, false, ["verify"]);
  } catch {
    return false; // not a point on the curve, not a usable modulus
  }
  return subtle.verify({ name: algorithm.name, hash }, key, signature, new Uint8Array(signed.data));
};

/** The P-256 public key with these coordinates. */
export const p256Spki = (x: Uint8Array, y: Uint8Array): Bytes =>
  der(
    tags.sequence,
    der(tags.sequence, derOid(ecPublicKey), derOid(p256)),
    der(tags.bitString, new Uint8Array([0, 4]), x, y), // no spare bits; 4: both coordinates follow
  );

/** The 32 bytes of an Ed25519 public key; null when it is a key of another kind. */
export const ed25519OfSpki = (spki: Uint8Array): Bytes | null => {
  const members = walk(parseDer(spki) ?? undefined);
  const algorithm = walk(members.next(tags.sequence));
  const isEd25519 = oidOf(algorithm.next(tags.oid)) === ed25519 && algorithm.done();
  const bits = members.next(tags.bitString);
  return isEd25519 && members.done() && bits?.content.length === 33 && bits.content[0] === 0 ? bits.content.slice(1) : null;
};

/** The secret number of a P-256 key in PKCS #8; null when the bytes are anything else. */
export const p256SecretOfPkcs8 = (pkcs8: Uint8Array): Bytes | null => {
  const members = walk(parseDer(pkcs8) ?? undefined);
  const version = members.next(tags.integer);
  const algorithm = walk(members.next(tags.sequence));
  const isP256 = oidOf(algorithm.next(tags.oid)) === ecPublicKey && oidOf(algorithm.next(tags.oid)) === p256 && algorithm.done();
  const inner = walk(parseDer(members.next(tags.octetString)?.content ?? new Uint8Array(0)) ?? undefined);
  inner.next(tags.integer);
  const secret = inner.next(tags.octetString);
  return version?.content[0] === 0 && isP256 && secret?.content.length === 32 ? secret.content.slice() : null;
};
