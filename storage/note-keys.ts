// Opens the Ed25519 keys of logs and witnesses from secrets in note format, and verifies their signatures with WebCrypto.
import { sha256 } from "../core/hash.ts";
import { parseSkey, createVerifierKey, type NoteCrypto, type NoteSigner } from "../core/ledger/note.ts";
import { openEd25519 } from "./signer.ts";

/** Throws if the text is not a secret in note format or if its key ID does not match its public key. */
export const openNoteSigner = async (secret: string): Promise<NoteSigner> => {
  const parsed = parseSkey(secret);
  if (parsed === null) throw new Error("note keys: not a note-format secret");
  const { key, publicKey } = await openEd25519(parsed.seed);
  const verifier = createVerifierKey(sha256, parsed.name, parsed.kind, publicKey);
  if (verifier.keyId !== parsed.keyId) throw new Error("note keys: the key id is not that of the key");
  return { key: verifier, sign: async (message) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, message)) };
};

/** SHA-256 and Ed25519 verification for notes. */
export const noteCrypto: NoteCrypto = {
  sha256,
  verifyEd25519: async (publicKey, message, signature) => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), new Uint8Array(message));
  },
};
