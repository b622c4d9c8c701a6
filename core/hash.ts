// SHA-256 and HMAC-SHA-256, synchronous: the only crypto import in core. Synchronous because a decision is one
// straight line, and because an object must hash between reading a head and writing the next entry without awaiting.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export type Bytes = Uint8Array<ArrayBuffer>;

/** 32 bytes. */
export const sha256 = (data: string | Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(data).digest());

/** 64 lower-case hex characters. Text is hashed as UTF-8. */
export const sha256Hex = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** 32 bytes. */
export const hmacSha256 = (key: Uint8Array, data: string | Uint8Array): Uint8Array =>
  new Uint8Array(createHmac("sha256", key).update(data).digest());

/** Equality that takes the same time wherever the first difference is. Both sides are hashed first, so lengths do not tell either. */
export const isSameSecret = (a: string | Uint8Array, b: string | Uint8Array): boolean => timingSafeEqual(sha256(a), sha256(b));
