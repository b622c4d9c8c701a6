// Columns that store bytes. In code, these values are text, such as hex. As bytes, they take less space in the database.
import { sql } from "drizzle-orm";
import { customType } from "drizzle-orm/sqlite-core";
import { fromBase64, fromBase64Url, toBase64, toBase64Url, toHex } from "../core/bytes.ts";
import { sealedFromBytes, sealedToHex } from "./vault.ts";

/**
 * Defines a column of bytes that are text in code. D1 returns bytes as a list of numbers. They are written as `unhex(?)`, so that a
 * statement binds only text and numbers. A prepared query must contain the call of `unhex`.
 */
const bytesAs = (toHexText: (text: string) => string, fromBytes: (bytes: Uint8Array) => string) =>
  customType<{ data: string; driverData: readonly number[] }>({
    dataType: () => "blob",
    toDriver: (text) => sql`unhex(${toHexText(text)})`,
    fromDriver: (bytes) => fromBytes(Uint8Array.from(bytes)),
  });

const requireHex = (bytes: Uint8Array | null): string => {
  if (bytes === null) throw new Error("byte columns: malformed base64");
  return toHex(bytes);
};

/** Converts base64 to hex. Throws if the text is not base64. */
export const base64ToHex = (text: string): string => requireHex(fromBase64(text));
/** Converts base64url to hex. Throws if the text is not base64url. */
export const base64UrlToHex = (text: string): string => requireHex(fromBase64Url(text));

/** Lowercase hex, stored in half the space. */
export const hexBytes = bytesAs((hex) => hex, toHex);
/** Base64, stored in about three quarters of the space. */
export const base64Bytes = bytesAs(base64ToHex, toBase64);
export const base64UrlBytes = bytesAs(base64UrlToHex, toBase64Url);
/** A sealed value, stored in about three quarters of the space. */
export const sealedBytes = bytesAs(sealedToHex, sealedFromBytes);
