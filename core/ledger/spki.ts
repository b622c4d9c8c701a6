// Public keys as SubjectPublicKeyInfo, and signature checks with them: ECDSA on P-256 and P-384, and RSA with PKCS #1 v1.5. The caller
// provides WebCrypto. This file converts between WebCrypto's encodings and DER.
import type { Bytes } from "../hash.ts";
import { encodeDer, encodeOid, ecdsaDerToRaw, parseOid, parseDer, derTags, createSequenceReader } from "./der.ts";

type KeyAlgorithm = { readonly name: "ECDSA"; readonly namedCurve: string } | { readonly name: "RSASSA-PKCS1-v1_5"; readonly hash: string };

/** The part of `crypto.subtle` that signature checks need. */
export interface SignatureCrypto {
  digest(algorithm: string, data: Bytes): Promise<ArrayBuffer>;
  importKey(format: "spki", key: Bytes, algorithm: KeyAlgorithm, extractable: false, usages: "verify"[]): Promise<unknown>;
  verify(algorithm: { readonly name: string; readonly hash: string }, key: unknown, signature: Bytes, data: Bytes): Promise<boolean>;
}

const ecPublicKeyOid = "2a8648ce3d0201";
export const rsaEncryptionOid = "2a864886f70d010101";
const p256Oid = "2a8648ce3d030107";
const ed25519Oid = "2b6570";
const curvesByOid: Readonly<Record<string, { readonly name: string; readonly size: number }>> = {
  [p256Oid]: { name: "P-256", size: 32 },
  "2b81040022": { name: "P-384", size: 48 },
};

export type SpkiKey = { readonly kind: "rsa" } | { readonly kind: "ecdsa"; readonly curve: string; readonly size: number };

/** Parses an SPKI public key. Returns null unless it is RSA or ECDSA on P-256 or P-384. */
export const parseSpki = (spki: Uint8Array): SpkiKey | null => {
  const algorithm = createSequenceReader(createSequenceReader(parseDer(spki) ?? undefined).next(derTags.sequence));
  const oid = parseOid(algorithm.next(derTags.oid));
  if (oid === rsaEncryptionOid) return { kind: "rsa" };
  const curve = curvesByOid[parseOid(algorithm.next(derTags.oid)) ?? ""];
  return oid === ecPublicKeyOid && curve !== undefined ? { kind: "ecdsa", curve: curve.name, size: curve.size } : null;
};

/** Verifies a signature. Returns false if the signature is invalid, or if the key or the signature is malformed. */
export const isSignedBy = async (
  subtle: SignatureCrypto,
  spki: Uint8Array,
  signed: { readonly hash: string; readonly signature: Uint8Array; readonly data: Uint8Array },
): Promise<boolean> => {
  const parsed = parseSpki(spki);
  if (parsed === null) return false;
  const { hash } = signed;
  const algorithm: KeyAlgorithm = parsed.kind === "rsa" ? { name: "RSASSA-PKCS1-v1_5", hash } : { name: "ECDSA", namedCurve: parsed.curve };
  const signature = parsed.kind === "rsa" ? new Uint8Array(signed.signature) : ecdsaDerToRaw(signed.signature, parsed.size);
  if (signature === null) return false;
  let key: unknown;
  try {
    key = await subtle.importKey("spki", new Uint8Array(spki), algorithm, false, ["verify"]);
  } catch {
    return false; // the key is not a point on the curve, or has an unusable modulus
  }
  return subtle.verify({ name: algorithm.name, hash }, key, signature, new Uint8Array(signed.data));
};

export const encodeP256Spki = (x: Uint8Array, y: Uint8Array): Bytes =>
  encodeDer(
    derTags.sequence,
    encodeDer(derTags.sequence, encodeOid(ecPublicKeyOid), encodeOid(p256Oid)),
    encodeDer(derTags.bitString, new Uint8Array([0, 4]), x, y), // the byte 0 means no unused bits; the byte 4 marks an uncompressed point
  );

/** Returns the 32 bytes of an Ed25519 public key, or null for any other key. */
export const ed25519KeyFromSpki = (spki: Uint8Array): Bytes | null => {
  const members = createSequenceReader(parseDer(spki) ?? undefined);
  const algorithm = createSequenceReader(members.next(derTags.sequence));
  const isEd25519 = parseOid(algorithm.next(derTags.oid)) === ed25519Oid && algorithm.done();
  const bits = members.next(derTags.bitString);
  return isEd25519 && members.done() && bits?.content.length === 33 && bits.content[0] === 0 ? bits.content.slice(1) : null;
};

/** Returns a P-256 key's secret scalar from PKCS #8, or null for anything else. */
export const p256PrivateKeyFromPkcs8 = (pkcs8: Uint8Array): Bytes | null => {
  const members = createSequenceReader(parseDer(pkcs8) ?? undefined);
  const version = members.next(derTags.integer);
  const algorithm = createSequenceReader(members.next(derTags.sequence));
  const isP256 =
    parseOid(algorithm.next(derTags.oid)) === ecPublicKeyOid && parseOid(algorithm.next(derTags.oid)) === p256Oid && algorithm.done();
  const inner = createSequenceReader(parseDer(members.next(derTags.octetString)?.content ?? new Uint8Array(0)) ?? undefined);
  inner.next(derTags.integer);
  const secret = inner.next(derTags.octetString);
  return version?.content[0] === 0 && isP256 && secret?.content.length === 32 ? secret.content.slice() : null;
};
