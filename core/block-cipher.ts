// AES-256 of a single block of 16 bytes, without a mode of operation. Use it only for blocks that are random or pseudorandom, because equal
// blocks have equal ciphertexts.
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Bytes } from "./hash.ts";

export const encryptBlock = (key: Bytes, block: Uint8Array): Uint8Array => {
  const cipher = createCipheriv("aes-256-ecb", key, null);
  cipher.setAutoPadding(false);
  return Uint8Array.from(cipher.update(block));
};

export const decryptBlock = (key: Bytes, block: Uint8Array): Uint8Array => {
  const decipher = createDecipheriv("aes-256-ecb", key, null);
  decipher.setAutoPadding(false);
  return Uint8Array.from(decipher.update(block));
};
