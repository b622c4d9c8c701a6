// SHA-256 and HMAC-SHA-256, synchronous: the only crypto import in core. Synchronous because a decision is one
// straight line, and because an object must hash between reading a head and writing the next entry without awaiting.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { hexOf, utf8 } from "./bytes.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

// node:crypto's own ways for text lead through its Buffer, which costs as much as hashing a kilobyte, and a certificate has some
// twenty hashes. So text is encoded here, short text always in the same place: hashing is synchronous and keeps nothing of it.
const encoder = new TextEncoder();
const place = new Uint8Array(32_768); // ten thousand characters of any kind: the whole JSON of a certificate
const maxBytesPerUnit = 3; // UTF-8 of one UTF-16 code unit

const bytesOf = (data: string | Uint8Array): Uint8Array => {
  if (typeof data !== "string") return data;
  return data.length * maxBytesPerUnit > place.length ? utf8(data) : place.subarray(0, encoder.encodeInto(data, place).written);
};
const plain = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);

/** 32 bytes. Text is hashed as UTF-8. */
export const sha256 = (data: string | Uint8Array): Uint8Array => plain(createHash("sha256").update(bytesOf(data)).digest());

/** 64 lower-case hex characters. */
export const sha256Hex = (data: string | Uint8Array): string => hexOf(sha256(data));

/** 32 bytes. */
export const hmacSha256 = (key: Uint8Array, data: string | Uint8Array): Uint8Array =>
  plain(createHmac("sha256", key).update(bytesOf(data)).digest());

/** Equality that takes the same time wherever the first difference is. Both sides are hashed first, so lengths do not tell either. */
export const isSameSecret = (a: string | Uint8Array, b: string | Uint8Array): boolean => timingSafeEqual(sha256(a), sha256(b));
