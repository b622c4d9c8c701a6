// Creates key pairs in note format for logs and witnesses from a seed.
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { fromBase64Url } from "../core/bytes.ts";
import { keyKinds, formatSkey, createVerifierKey, formatVkey, type KeyKind } from "../core/ledger/note.ts";

// The start of an Ed25519 private key in PKCS #8 format (RFC 8410). The 32-byte seed follows it.
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

const derivePublicKey = (seed: Uint8Array): Uint8Array<ArrayBuffer> => {
  const secret: KeyObject = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
  const publicKey = fromBase64Url(createPublicKey(secret).export({ format: "jwk" }).x ?? "");
  if (publicKey === null) throw new Error("note secret: no public key");
  return publicKey;
};

/** Returns the secret and public key in note format for a 32-byte random seed. */
export const noteKeyPair = (
  name: string,
  seed: Uint8Array<ArrayBuffer>,
  kind: KeyKind = keyKinds.log,
): { readonly secret: string; readonly vkey: string } => {
  const key = createVerifierKey(name, kind, derivePublicKey(seed));
  return { secret: formatSkey({ name, keyId: key.keyId, kind, seed }), vkey: formatVkey(key) };
};
