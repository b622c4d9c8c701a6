// A strict DER reader and writer for timestamps, public keys and ECDSA signatures. Also converts between the two encodings of an ECDSA
// signature. The reader accepts only one-byte tags and definite lengths in the shortest form, and no trailing bytes.
import { fromHex, concatBytes, toHex } from "../bytes.ts";
import type { Bytes } from "../hash.ts";

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  nullValue: 0x05,
  oid: 0x06,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Returns the context-specific tag with this number. */
export const toContextTag = (number: number, constructed = true): number => 0x80 | (constructed ? 0x20 : 0) | number;

export interface DerValue {
  readonly tag: number;
  readonly content: Bytes;
  /** The complete encoding: tag, length and content. */
  readonly encoded: Bytes;
  /** The values inside a constructed value; empty for a primitive value. */
  readonly children: readonly DerValue[];
}

const maxDerBytes = 32 * 1_024; // the limit for a timestamp reply, which is the largest input
const maxDerDepth = 24; // names in a certificate, the deepest values in a timestamp reply, are at level 13
const constructedBit = 0x20;
const isUniversalTag = (tag: number): boolean => (tag & 0xc0) === 0;

/** Checks the content of booleans, nulls, integers and object identifiers against the rules of DER. */
const isCanonicalContent = (tag: number, content: Uint8Array): boolean => {
  const [first = 0, second = 0] = content;
  if (tag === derTags.boolean) return content.length === 1 && (first === 0x00 || first === 0xff);
  if (tag === derTags.nullValue) return content.length === 0;
  if (tag === derTags.integer) {
    const padded = content.length > 1 && ((first === 0x00 && second < 0x80) || (first === 0xff && second >= 0x80));
    return content.length > 0 && !padded;
  }
  if (tag === derTags.oid) {
    // Each arc (a number in the identifier) must be complete and must not have leading zeros.
    const isWhole = content.length > 0 && (content.at(-1) as number) < 0x80;
    return isWhole && content.every((byte, at) => byte !== 0x80 || (at > 0 && (content[at - 1] as number) >= 0x80));
  }
  return true;
};

/** Parses the value at `at`. Returns null unless it is valid DER and ends at or before `end`. */
const parseValueAt = (bytes: Bytes, at: number, end: number, depth: number): DerValue | null => {
  if (at + 2 > end || depth > maxDerDepth) return null;
  const tag = bytes[at] as number;
  const first = bytes[at + 1] as number;
  if ((tag & 0x1f) === 0x1f) return null; // multi-byte tags do not occur in the formats read here
  let length = first;
  let start = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count > 2 || start + count > end) return null; // two length bytes are enough for 64 KiB
    length = 0;
    for (const byte of bytes.subarray(start, start + count)) length = length * 256 + byte;
    if (length < (count === 1 ? 0x80 : 0x100)) return null; // the length is not minimal, or it is 0x80, the indefinite length of BER
    start += count;
  }
  if (start + length > end) return null;
  const isConstructed = (tag & constructedBit) !== 0;
  const mustBe = (tag | constructedBit) === derTags.sequence || (tag | constructedBit) === derTags.set;
  if (isUniversalTag(tag) && (isConstructed !== mustBe || tag === 0)) return null; // in DER, only sequences and sets are constructed
  const content = bytes.subarray(start, start + length);
  if (!isConstructed && !isCanonicalContent(tag, content)) return null;
  const children: DerValue[] = [];
  if (isConstructed) {
    for (let next = start; next < start + length; ) {
      const child = parseValueAt(bytes, next, start + length, depth + 1);
      if (child === null) return null;
      children.push(child);
      next += child.encoded.length;
    }
  }
  return { tag, content, encoded: bytes.subarray(at, start + length), children };
};

/** Parses `bytes` as exactly one value. Returns null for invalid DER, trailing bytes or more than 32 KiB. */
export const parseDer = (bytes: Uint8Array): DerValue | null => {
  if (bytes.length > maxDerBytes) return null;
  const copy = new Uint8Array(bytes);
  const value = parseValueAt(copy, 0, copy.length, 0);
  return value?.encoded.length === copy.length ? value : null;
};

/**
 * Reads a sequence's members in order. `next` consumes the next member only if it has the given tag, which allows optional members. `done`
 * returns true if the value is a sequence and every member was consumed.
 */
export const createSequenceReader = (value: DerValue | undefined): { next: (tag: number) => DerValue | undefined; done: () => boolean } => {
  const isSequence = value?.tag === derTags.sequence;
  const members = isSequence ? value.children : [];
  let at = 0;
  return {
    next: (tag) => {
      if (members[at]?.tag !== tag) return undefined;
      at += 1;
      return members[at - 1];
    },
    done: () => isSequence && at === members.length,
  };
};

/** Returns the content of an object identifier in hex, or null for any other value. */
export const parseOid = (value: DerValue | undefined): string | null => (value?.tag === derTags.oid ? toHex(value.content) : null);

/** Encodes a value. Throws RangeError if the content is longer than 65,535 bytes. */
export const encodeDer = (tag: number, ...parts: readonly Uint8Array[]): Bytes => {
  const content = concatBytes(...parts);
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  if (length > 0xffff) throw new RangeError("der: the content must be at most 65,535 bytes");
  return concatBytes(new Uint8Array([tag, ...header]), content);
};

export const encodeOid = (hex: string): Bytes => encodeDer(derTags.oid, fromHex(hex) ?? new Uint8Array(0));

/** Encodes a non-negative number, given as big-endian bytes, as an INTEGER. */
export const encodeUnsignedInteger = (bytes: Uint8Array): Bytes => {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const digits = bytes.subarray(start);
  return encodeDer(derTags.integer, (digits[0] ?? 0) >= 0x80 || digits.length === 0 ? new Uint8Array([0]) : new Uint8Array(0), digits);
};

/** Converts a WebCrypto signature (r and s of equal length) to DER, the encoding used in certificates and by Rekor. */
export const ecdsaRawToDer = (raw: Uint8Array): Bytes =>
  encodeDer(derTags.sequence, encodeUnsignedInteger(raw.subarray(0, raw.length / 2)), encodeUnsignedInteger(raw.subarray(raw.length / 2)));

/** Converts a DER signature to `size` bytes each for r and s. Returns null unless both numbers are positive and fit. */
export const ecdsaDerToRaw = (signature: Uint8Array, size: number): Bytes | null => {
  const members = createSequenceReader(parseDer(signature) ?? undefined);
  const numbers = [members.next(derTags.integer), members.next(derTags.integer)].map((value) => {
    const digits = value?.content[0] === 0 ? value.content.subarray(1) : value?.content;
    const isPositive = digits !== undefined && digits.length > 0 && (value?.content[0] as number) < 0x80;
    return isPositive && digits.length <= size ? concatBytes(new Uint8Array(size - digits.length), digits) : null;
  });
  const [r, s] = numbers;
  return r != null && s != null && members.done() ? concatBytes(r, s) : null;
};
