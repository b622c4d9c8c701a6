// Ed25519 verification with WebCrypto, which both Node and browsers have.
import { fromHex } from "../core/bytes.ts";
import { hashNode } from "../core/ledger/merkle.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";

export const webCrypto: NoteCrypto = {
  hashNode,
  verifyEd25519: async (publicKey, message, signature) => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), new Uint8Array(message));
  },
};

// RFC 8032, 7.1, test 1: the signature of the empty message.
const knownPublicKey = fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a") as Uint8Array;
const knownSignature = fromHex(
  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
) as Uint8Array;

export const ed25519UnsupportedNote = "This program cannot check Ed25519 signatures. Use a newer browser or Node version.";

/** Returns whether this runtime can verify Ed25519. Older browsers cannot, and WebCrypto is missing on pages over plain http. */
export const canVerifyEd25519 = async (crypto: NoteCrypto): Promise<boolean> => {
  try {
    const accepts = await crypto.verifyEd25519(knownPublicKey, new Uint8Array(0), knownSignature);
    const refuses = !(await crypto.verifyEd25519(knownPublicKey, new Uint8Array(1), knownSignature));
    return accepts && refuses;
  } catch {
    return false; // WebCrypto may be missing
  }
};
