// SHA-256 and HMAC-SHA-256. In core, only this file and block-cipher.ts import a crypto module. The functions are synchronous for two
// reasons: decisions in core can be plain functions, and a Durable Object must hash without awaiting between reading a chain head and
// writing the next entry.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { toHex, encodeUtf8 } from "./bytes.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

// Text is encoded here, because in node:crypto, converting a string takes as long as hashing a kilobyte, and a certificate needs about
// twenty hashes. Short strings share one buffer, which is safe because hashing is synchronous and keeps no reference to the buffer.
const utf8Encoder = new TextEncoder();
const scratchBuffer = new Uint8Array(32_768); // enough for 10,000 characters of any kind; a longer string gets its own buffer
const maxBytesPerCodeUnit = 3; // one UTF-16 code unit takes at most three bytes in UTF-8

const toInputBytes = (data: string | Uint8Array): Uint8Array => {
  if (typeof data !== "string") return data;
  return data.length * maxBytesPerCodeUnit > scratchBuffer.length
    ? encodeUtf8(data)
    : scratchBuffer.subarray(0, utf8Encoder.encodeInto(data, scratchBuffer).written);
};

const toUint8Array = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);

/** Returns the SHA-256, 32 bytes. Text is hashed as UTF-8. */
export const sha256 = (data: string | Uint8Array): Uint8Array => toUint8Array(createHash("sha256").update(toInputBytes(data)).digest());

/** Returns the SHA-256 as 64 lowercase hex characters. */
export const sha256Hex = (data: string | Uint8Array): string => toHex(sha256(data));

export const hmacSha256 = (key: Uint8Array, data: string | Uint8Array): Uint8Array =>
  toUint8Array(createHmac("sha256", key).update(toInputBytes(data)).digest());

/** Compares in constant time. Hashes both sides first, because only values of equal length can be compared in constant time. */
export const isEqualConstantTime = (a: string | Uint8Array, b: string | Uint8Array): boolean => timingSafeEqual(sha256(a), sha256(b));
