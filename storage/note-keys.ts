// The Ed25519 keys of logs and witnesses: opened from their note-format secrets, and signatures checked, by WebCrypto.
import { bytesOfBase64Url, bytesOfHex, concatBytes } from "../core/bytes.ts";
import { sha256 } from "../core/hash.ts";
import { parseSkey, verifierKey, type NoteCrypto, type NoteSigner } from "../core/ledger/note.ts";

const pkcs8Prefix = bytesOfHex("302e020100300506032b657004220420") as Uint8Array; // RFC 8410: PrivateKeyInfo of a 32-byte Ed25519 seed

/** Throws for text that is not a note-format secret, and for one whose key id is not that of its own public key. */
export const openNoteSigner = async (secret: string): Promise<NoteSigner> => {
  const parsed = parseSkey(secret);
  if (parsed === null) throw new Error("note keys: not a note-format secret");
  const key = await crypto.subtle.importKey("pkcs8", concatBytes(pkcs8Prefix, parsed.seed), "Ed25519", true, ["sign"]);
  const { x } = (await crypto.subtle.exportKey("jwk", key)) as { x?: string };
  const publicKey = bytesOfBase64Url(x ?? "");
  if (publicKey?.length !== 32) throw new Error("note keys: the runtime gave no public key");
  const verifier = verifierKey(sha256, parsed.name, parsed.kind, publicKey);
  if (verifier.keyId !== parsed.keyId) throw new Error("note keys: the key id is not that of the key");
  return { key: verifier, sign: async (message) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, message)) };
};

export const noteCrypto: NoteCrypto = {
  sha256,
  verifyEd25519: async (publicKey, message, signature) => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), new Uint8Array(message));
  },
};
