// The issuer's Ed25519 key. It signs the canonical JSON of each certificate, so that anyone can verify offline who issued the certificate.
// Signatures are stored, so a new key does not affect old certificates.
import { toBase64, toBase64Url, fromBase64Url, fromHex, concatBytes, encodeUtf8 } from "../core/bytes.ts";
import { sha256 } from "../core/hash.ts";
import type { IssuerJwk } from "../core/ledger/trust-document.ts";

export interface Signer {
  readonly kid: string;
  readonly sign: (text: string) => Promise<string>;
  readonly publicKeys: readonly IssuerJwk[];
}

const pkcs8Prefix = fromHex("302e020100300506032b657004220420") as Uint8Array; // RFC 8410: PrivateKeyInfo of a 32-byte Ed25519 seed

/** Returns the ID of a public key (RFC 7638). */
const thumbprint = (x: string): string => toBase64Url(sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));

const toJwk = (x: string): IssuerJwk => ({ kty: "OKP", crv: "Ed25519", x, kid: thumbprint(x), alg: "EdDSA", use: "sig" });

/** Imports an Ed25519 key pair from its 32-byte seed. */
export const openEd25519 = async (seed: Uint8Array) => {
  const key = await crypto.subtle.importKey("pkcs8", concatBytes(pkcs8Prefix, seed), "Ed25519", true, ["sign"]);
  const { x = "" } = (await crypto.subtle.exportKey("jwk", key)) as { x?: string };
  const publicKey = fromBase64Url(x);
  if (publicKey?.length !== 32) throw new Error("signer: the runtime returned no public key");
  return { key, x, publicKey };
};

/**
 * Imports the issuer's key from a 32-byte seed. `retired` contains the public keys (base64url) of earlier seeds. They are still published,
 * so that anyone can verify earlier signatures.
 */
export const openSigner = async (seed: Uint8Array, retired: readonly string[]): Promise<Signer> => {
  const { key, x } = await openEd25519(seed);
  const active = toJwk(x);
  return {
    kid: active.kid,
    sign: async (text) => toBase64(new Uint8Array(await crypto.subtle.sign("Ed25519", key, encodeUtf8(text)))),
    publicKeys: [active, ...retired.map(toJwk)],
  };
};
