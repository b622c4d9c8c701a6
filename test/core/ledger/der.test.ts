// Tests the strict DER reader and writer, and both encodings of ECDSA signatures.
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { fromHex, concatBytes, toHex } from "../../../core/bytes.ts";
import {
  encodeDer,
  encodeUnsignedInteger,
  ecdsaRawToDer,
  ecdsaDerToRaw,
  parseDer,
  derTags,
  createSequenceReader,
} from "../../../core/ledger/der.ts";

const parseHex = (hex: string): Uint8Array => fromHex(hex.replaceAll(" ", "")) ?? new Uint8Array(0);

describe("a DER value", () => {
  test("is parsed with all nested values", () => {
    const value = parseDer(parseHex("30 0a 02 01 05 a0 05 04 03 61 62 63"));
    expect(value?.children.map(({ tag }) => tag)).toEqual([0x02, 0xa0]);
    expect(toHex(value?.children[1]?.children[0]?.content ?? new Uint8Array(0))).toBe("616263");
  });

  test.each([
    ["nothing", ""],
    ["a tag without a length", "02"],
    ["a length beyond the end", "02 02 01"],
    ["a length of a member beyond its sequence", "30 03 02 02 01 01"],
    ["bytes after the value", "02 01 01 00"],
    ["an indefinite length", "30 80 02 01 01 00 00"],
    ["a short length in the long form", "04 81 01 00"],
    ["a length with a leading zero", `04 82 00 80 ${"00".repeat(128)}`],
    ["a length of three bytes", `04 83 00 00 01 00`],
    ["a tag of several bytes", "9f 01 00"],
    ["a string in pieces", "24 03 04 01 61"],
    ["a sequence that is not constructed", "10 00"],
    ["an end-of-contents marker", "00 00"],
    ["a padded number", "02 02 00 01"],
    ["a padded negative number", "02 02 ff 80"],
    ["a number without digits", "02 00"],
    ["a boolean that is neither true nor false", "01 01 01"],
    ["a null with content", "05 01 00"],
    ["a truncated identifier", "06 01 86"],
    ["an identifier with a padded arc", "06 02 80 01"],
    ["an identifier without arcs", "06 00"],
  ])("is not %s", (_, hex) => {
    expect(parseDer(parseHex(hex))).toBeNull();
  });

  test("is refused when it is more than 24 levels deep", () => {
    const nestSequences = (levels: number): Uint8Array =>
      levels === 0 ? new Uint8Array(0) : encodeDer(derTags.sequence, nestSequences(levels - 1));
    expect(parseDer(nestSequences(25))).not.toBeNull();
    expect(parseDer(nestSequences(26))).toBeNull();
    expect(parseDer(new Uint8Array(20_000).fill(0x30))).toBeNull();
  });

  test("is refused when it is larger than 32 KiB", () => {
    expect(parseDer(encodeDer(derTags.octetString, new Uint8Array(32 * 1_024 - 4)))).not.toBeNull();
    expect(parseDer(encodeDer(derTags.octetString, new Uint8Array(32 * 1_024 - 3)))).toBeNull();
  });

  test.each([0, 1, 127, 128, 255, 256, 20_000])("round-trips with %i bytes of content", (length) => {
    const written = encodeDer(derTags.octetString, new Uint8Array(length).fill(7));
    expect(parseDer(written)?.content.length).toBe(length);
    expect(parseDer(written)?.encoded).toEqual(written);
  });

  test.each([
    ["00", "020100"],
    ["0000", "020100"],
    ["7f", "02017f"],
    ["80", "02020080"],
    ["0080", "02020080"],
    ["", "020100"],
  ])("encodes the number %s as %s", (digits, written) => {
    expect(toHex(encodeUnsignedInteger(parseHex(digits)))).toBe(written);
  });
});

describe("a sequence reader", () => {
  test("reads optional members in order and reports when all were read", () => {
    const members = createSequenceReader(parseDer(parseHex("30 06 02 01 05 01 01 ff")) ?? undefined);
    expect(members.next(derTags.octetString)).toBeUndefined();
    expect(members.next(derTags.integer)?.content).toEqual(new Uint8Array([5]));
    expect(members.done()).toBe(false);
    expect(members.next(derTags.boolean)).toBeDefined();
    expect(members.done()).toBe(true);
  });

  test("is never done for a value that is not a sequence", () => {
    expect(createSequenceReader(undefined).done()).toBe(false);
    expect(createSequenceReader(parseDer(parseHex("31 00")) ?? undefined).done()).toBe(false);
  });
});

describe("an ECDSA signature", () => {
  test.each([
    ["P-256", 32],
    ["P-384", 48],
  ])("on %s converts between both encodings", (namedCurve, size) => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve });
    const shortest = new Set<number>();
    for (let at = 0; at < 600; at += 1) {
      const message = Buffer.from(`message ${at}`);
      const signature = sign("sha256", message, privateKey);
      const raw = ecdsaDerToRaw(signature, size);
      if (raw === null) throw new Error("not read");
      expect(toHex(ecdsaRawToDer(raw))).toBe(signature.toString("hex"));
      if (at < 20) expect(verify("sha256", message, { key: publicKey, dsaEncoding: "ieee-p1363" }, raw)).toBe(true);
      shortest.add(signature.length);
    }
    expect(shortest.size).toBeGreaterThan(2); // some integers need a padding byte, and some are shorter than 32 bytes
  });

  const encodeNumber = (fill: number, length = 32): Uint8Array => encodeUnsignedInteger(new Uint8Array(length).fill(fill));
  test.each<[string, Uint8Array]>([
    ["a negative number", encodeDer(derTags.sequence, parseHex("0201ff"), encodeNumber(1))],
    ["a zero", encodeDer(derTags.sequence, parseHex("020100"), encodeNumber(1))],
    ["a number that is too long", encodeDer(derTags.sequence, encodeNumber(1, 33), encodeNumber(1))],
    ["one number", encodeDer(derTags.sequence, encodeNumber(1))],
    ["three numbers", encodeDer(derTags.sequence, encodeNumber(1), encodeNumber(1), encodeNumber(1))],
    ["bytes after it", concatBytes(encodeDer(derTags.sequence, encodeNumber(1), encodeNumber(1)), new Uint8Array(1))],
    ["a WebCrypto signature", new Uint8Array(64).fill(1)],
  ])("is not %s", (_, signature) => {
    expect(ecdsaDerToRaw(signature, 32)).toBeNull();
  });
});
