// Conversions between bytes and text. Each value has exactly one accepted spelling in hex and base64, because a proof with two spellings
// could be changed without detection. Native encoders are used where the engine has them (workerd and browsers, but not Node 24).

const utf8Encoder = new TextEncoder();
export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => utf8Encoder.encode(text) as Uint8Array<ArrayBuffer>;

const strictUtf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. Returns null for invalid bytes. A byte order mark stays in the text, so parsers refuse it. */
export const decodeUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return strictUtf8Decoder.decode(bytes);
  } catch {
    return null;
  }
};

interface NativeEncoders {
  toHex?(): string;
  toBase64?(options?: { alphabet: "base64url"; omitPadding: true }): string;
}
const nativeEncoders = Uint8Array.prototype as NativeEncoders;

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Encodes bytes as lowercase hex, two characters per byte. */
export const toHex = (bytes: Uint8Array): string => {
  if (nativeEncoders.toHex !== undefined) return nativeEncoders.toHex.call(bytes);
  let hex = "";
  for (const byte of bytes) hex += hexPairs[byte];
  return hex;
};

const chunkBytes = 8_192; // bytes per call, because engines limit the number of arguments

/** Encodes bytes as standard base64 with padding. */
export const toBase64 = (bytes: Uint8Array): string => {
  if (nativeEncoders.toBase64 !== undefined) return nativeEncoders.toBase64.call(bytes);
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunkBytes) binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  return btoa(binary);
};

/** Encodes bytes as base64url without padding. */
export const toBase64Url = (bytes: Uint8Array): string => {
  if (nativeEncoders.toBase64 !== undefined) return nativeEncoders.toBase64.call(bytes, { alphabet: "base64url", omitPadding: true });
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};

interface NativeDecoder {
  /** The native decoder throws if padding is missing or unused bits are set. */
  fromBase64?(text: string, options: { alphabet: "base64" | "base64url"; lastChunkHandling: "strict" }): Uint8Array<ArrayBuffer>;
}
const nativeDecoder = Uint8Array as NativeDecoder;

/** Decodes `text`, which must be padded and contain only characters of the alphabet. Returns null if unused bits are set. */
const decodeBase64 = (text: string, alphabet: "base64" | "base64url"): Uint8Array<ArrayBuffer> | null => {
  if (nativeDecoder.fromBase64 !== undefined) {
    try {
      return nativeDecoder.fromBase64(text, { alphabet, lastChunkHandling: "strict" });
    } catch {
      return null;
    }
  }
  const plain = alphabet === "base64" ? text : text.replaceAll("-", "+").replaceAll("_", "/");
  const binary = atob(plain);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return toBase64(bytes) === plain ? bytes : null;
};

/**
 * Decodes base64. Returns null unless `text` is exactly what `toBase64` returns for the same bytes: no whitespace, full padding, unused
 * bits zero.
 */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | null =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? decodeBase64(text, "base64") : null;

/** Decodes base64url. Returns null unless `text` is exactly what `toBase64Url` returns for the same bytes. */
export const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> | null =>
  text.length % 4 !== 1 && /^[A-Za-z0-9_-]*$/.test(text)
    ? decodeBase64(`${text}${"=".repeat((4 - (text.length % 4)) % 4)}`, "base64url")
    : null;

/** Decodes hex. Returns null unless `text` is the lowercase hex of whole bytes. */
export const fromHex = (text: string): Uint8Array<ArrayBuffer> | null => {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16);
  return bytes;
};

export const concatBytes = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** Reads the whole stream. Returns null, and stops reading, as soon as it exceeds `maxBytes`. */
export const readBytesUpTo = async (
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> => {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream ?? []) {
    length += part.length;
    if (length > maxBytes) return null; // leaving the loop cancels the stream
    parts.push(part);
  }
  return concatBytes(...parts);
};

/** Compares bytes. The running time depends on the content, so do not use this function for secrets. */
export const areBytesEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);
