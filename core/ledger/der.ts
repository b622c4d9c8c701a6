// DER, as much of it as time stamps and ECDSA need: a strict reader of whole values, a writer, and the two spellings of an
// ECDSA signature. The reader takes one spelling only: definite minimal lengths, one-byte tags, nothing behind the value.
import { fromHex, concatBytes, toHex } from "../bytes.ts";
import type { Bytes } from "../hash.ts";

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  nullValue: 0x05,
  oid: 0x06,
  generalizedTime: 0x18, // GeneralizedTime
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag of the context's `number`: `[0]` around a value or in its place when constructed. */
export const toContextTag = (number: number, constructed = true): number => 0x80 | (constructed ? 0x20 : 0) | number;

export interface DerValue {
  readonly tag: number;
  readonly content: Bytes;
  /** Tag, length and content. */
  readonly encoded: Bytes;
  /** Of a constructed value; empty for all others. */
  readonly children: readonly DerValue[];
}

const maxDerBytes = 32 * 1_024; // what a time-stamp reply may have; nothing read here is larger
const maxDerDepth = 24; // names inside a certificate inside a signed message inside a reply are 13 levels deep
const constructedBit = 0x20;
const isUniversalTag = (tag: number): boolean => (tag & 0xc0) === 0;

/** What DER demands of the content of the universal types read here. */
const isCanonicalContent = (tag: number, content: Uint8Array): boolean => {
  const [first = 0, second = 0] = content;
  if (tag === derTags.boolean) return content.length === 1 && (first === 0x00 || first === 0xff);
  if (tag === derTags.nullValue) return content.length === 0;
  if (tag === derTags.integer) {
    const padded = content.length > 1 && ((first === 0x00 && second < 0x80) || (first === 0xff && second >= 0x80));
    return content.length > 0 && !padded;
  }
  if (tag === derTags.oid) {
    // every arc is whole and begins without a digit of zero
    const isWhole = content.length > 0 && (content.at(-1) as number) < 0x80;
    return isWhole && content.every((byte, at) => byte !== 0x80 || (at > 0 && (content[at - 1] as number) >= 0x80));
  }
  return true;
};

/** The value that begins at `at`; null unless it ends by `end` and is spelt as DER spells it. */
const parseValueAt = (bytes: Bytes, at: number, end: number, depth: number): DerValue | null => {
  if (at + 2 > end || depth > maxDerDepth) return null;
  const tag = bytes[at] as number;
  const first = bytes[at + 1] as number;
  if ((tag & 0x1f) === 0x1f) return null; // tags of several bytes: nothing read here has one
  let length = first;
  let start = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count > 2 || start + count > end) return null; // two bytes say up to 64 KiB
    length = 0;
    for (const byte of bytes.subarray(start, start + count)) length = length * 256 + byte;
    if (length < (count === 1 ? 0x80 : 0x100)) return null; // could be said in fewer bytes; 0x80 alone is BER's open end
    start += count;
  }
  if (start + length > end) return null;
  const isConstructed = (tag & constructedBit) !== 0;
  const mustBe = (tag | constructedBit) === derTags.sequence || (tag | constructedBit) === derTags.set;
  if (isUniversalTag(tag) && (isConstructed !== mustBe || tag === 0)) return null; // strings in pieces are BER
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

/** The one value that `bytes` is, down to its last byte; null for anything else. */
export const parseDer = (bytes: Uint8Array): DerValue | null => {
  if (bytes.length > maxDerBytes) return null;
  const copy = new Uint8Array(bytes);
  const value = parseValueAt(copy, 0, copy.length, 0);
  return value?.encoded.length === copy.length ? value : null;
};

/** Walks the members of a sequence in their order: `next` takes one of that tag or nothing, so that members may be optional. */
export const createSequenceReader = (
  value: DerValue | undefined,
  tag: number = derTags.sequence,
): { next: (tag: number) => DerValue | undefined; done: () => boolean } => {
  const members = value?.tag === tag ? value.children : [];
  let at = 0;
  return {
    next: (wanted) => {
      if (members[at]?.tag !== wanted) return undefined;
      at += 1;
      return members[at - 1];
    },
    done: () => value?.tag === tag && at === members.length,
  };
};

/** Hex of an object identifier's content; null when the value is something else. */
export const parseOid = (value: DerValue | undefined): string | null => (value?.tag === derTags.oid ? toHex(value.content) : null);

export const encodeDer = (tag: number, ...parts: readonly Uint8Array[]): Bytes => {
  const content = concatBytes(...parts);
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  if (length > 0xffff) throw new RangeError("der: longer than anything written here");
  return concatBytes(new Uint8Array([tag, ...header]), content);
};

export const encodeOid = (hex: string): Bytes => encodeDer(derTags.oid, fromHex(hex) ?? new Uint8Array(0));

/** INTEGER of the non-negative number whose big-endian bytes these are. */
export const encodeUnsignedInteger = (bytes: Uint8Array): Bytes => {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const digits = bytes.subarray(start);
  return encodeDer(derTags.integer, (digits[0] ?? 0) >= 0x80 || digits.length === 0 ? new Uint8Array([0]) : new Uint8Array(0), digits);
};

/** A signature as WebCrypto writes it (r and s, equally long) as everybody else reads it: a sequence of two integers. */
export const ecdsaRawToDer = (raw: Uint8Array): Bytes =>
  encodeDer(derTags.sequence, encodeUnsignedInteger(raw.subarray(0, raw.length / 2)), encodeUnsignedInteger(raw.subarray(raw.length / 2)));

/** The other way, with r and s of `size` bytes each. Null unless both are positive and fit. */
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
