// Tests which text is accepted for storage. Each rule has one text that follows it and one that breaks it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasVisibleCharacter, validateLine, validateMultilineText, trimWhiteSpace } from "../../core/text.ts";
import { anyCharacter } from "../support/characters.ts";

const formatCodePoint = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
const listRange = (from: number, end: number): number[] => Array.from({ length: end - from + 1 }, (_, at) => from + at);
const surroundCharacter = (code: number): string => `a${String.fromCodePoint(code)}b`;

const controls = [...listRange(0x00, 0x1f), ...listRange(0x7f, 0x9f)];
const lineBreaksAndTab = [0x09, 0x0a, 0x0d];
const embeddings = [...listRange(0x202a, 0x202e), ...listRange(0x2066, 0x2069)];
const nonCharacters = [
  ...listRange(0xfdd0, 0xfdef),
  ...listRange(0, 16).flatMap((plane) => [plane * 0x10000 + 0xfffe, plane * 0x10000 + 0xffff]),
];
const zeroWidth = [
  0x00ad, 0x034f, 0x061c, 0x115f, 0x17b4, 0x180e, 0x200b, 0x200e, 0x200f, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x206a, 0x206f, 0x3164,
  0xfeff, 0xffa0, 0xfff9, 0xfffa, 0xfffb, 0x1d173, 0xe0001, 0xe0041,
];

describe("a line of text", () => {
  test.each(
    [...controls, 0x2028, 0x2029, ...embeddings, ...nonCharacters, ...zeroWidth].map((code) => [formatCodePoint(code), code] as const),
  )("refuses %s between letters", (_name, code) => {
    expect(validateLine(surroundCharacter(code))).not.toBeNull();
  });

  test.each<readonly [string, string]>([
    ["plain", "Acme Solar LLC"],
    ["Hebrew", "חברת החשמל"],
    ["Arabic with digits", "شركة الطاقة ١٢٣"],
    ["Persian with ZWNJ", "می\u200cخواهم"],
    ["Devanagari with ZWJ", "क्\u200dष"],
    ["an emoji of several", "👩\u200d👩\u200d👧\u200d👦"],
    ["an emoji with a selector before its joiner", "❤\ufe0f\u200d🔥"],
    ["an emoji with a selector", "☀\ufe0f"],
    ["a decomposed name", "Rene\u0301e"],
    ["Vietnamese, decomposed", "Nguye\u0302\u0303n"],
    ["Zulu stacked marks", "Z\u0351\u036b\u0343"],
    ["CJK", "神東京"],
    ["an ideograph of a high plane", "𠮷野家"],
    ["Thai", "บริษัท"],
    ["no-break space", "a\u00a0b"],
    ["ideographic space", "東\u3000京"],
    ["quotes, markup and slashes", `"O'Neil" </script> & \\ / %_`],
    ["private use", "\ue000"],
    ["braille blank among letters", "a\u2800b"],
    ["empty", ""],
  ])("accepts %s", (_name, text) => {
    expect(validateLine(text)).toBeNull();
  });

  test.each<readonly [string, string]>([
    ["ZWJ first", "\u200da"],
    ["ZWJ last", "a\u200d"],
    ["ZWNJ first", "\u200ca"],
    ["ZWNJ before a space", "a\u200c b"],
    ["ZWNJ after a space", "a \u200cb"],
    ["two joiners", "a\u200c\u200cb"],
    ["ZWJ after ZWNJ", "a\u200c\u200db"],
    ["joiners alone", "\u200d"],
    ["marks alone", "\u0301\u0302"],
    ["a selector alone", "\ufe0f"],
    ["braille blank alone", "\u2800"],
    ["no-break spaces alone", "\u00a0\u00a0"],
    ["a line break", "a\nb"],
    ["a tab", "a\tb"],
    ["a carriage return", "a\rb"],
    ["NEL", "a\u0085b"],
  ])("refuses %s", (_name, text) => {
    expect(validateLine(text)).not.toBeNull();
  });
});

describe("validateMultilineText", () => {
  test.each(
    [...controls.filter((code) => !lineBreaksAndTab.includes(code)), 0x202d, 0x202e].map((code) => [formatCodePoint(code), code] as const),
  )("refuses %s", (_name, code) => {
    expect(validateMultilineText(surroundCharacter(code))).not.toBeNull();
  });

  test.each(
    [...lineBreaksAndTab, 0x202a, 0x202b, 0x202c, ...listRange(0x2066, 0x2069), 0x200b, 0x00ad, 0xfeff, 0x2028, 0x2029, 0x200d].map(
      (code) => [formatCodePoint(code), code] as const,
    ),
  )("accepts %s", (_name, code) => {
    expect(validateMultilineText(surroundCharacter(code))).toBeNull();
  });

  test.each<readonly [string, string]>([
    ["nothing", ""],
    ["spaces", "   "],
    ["line breaks", "\r\n\r\n"],
    ["zero-width spaces", "\u200b\u200b"],
    ["a byte order mark", "\ufeff"],
    ["Hangul fillers", "\u3164"],
    ["braille blanks", "\u2800\u2800"],
    ["marks", "\u0301"],
    ["annotation marks", "\ufff9\ufffa\ufffb"],
  ])("refuses text of only %s", (_name, text) => {
    expect(validateMultilineText(text)).toBe("must contain a visible character");
    expect(hasVisibleCharacter(text)).toBe(false);
  });
});

describe("trimWhiteSpace", () => {
  // Every character with the Unicode property White_Space.
  const whiteSpace = [
    ...listRange(0x09, 0x0d),
    0x20,
    0x85,
    0xa0,
    0x1680,
    ...listRange(0x2000, 0x200a),
    0x2028,
    0x2029,
    0x202f,
    0x205f,
    0x3000,
  ];

  test.each(whiteSpace.map((code) => [formatCodePoint(code), String.fromCodePoint(code)] as const))(
    "removes %s from both ends",
    (_name, space) => {
      expect(trimWhiteSpace(`${space}${space}a${space}b${space}`)).toBe(`a${space}b`);
    },
  );

  test.each([0x200b, 0xfeff, 0x180e, 0x2060, 0x2800, 0x00ad].map((code) => [formatCodePoint(code), String.fromCodePoint(code)] as const))(
    "keeps %s, which is not white space",
    (_name, char) => {
      expect(trimWhiteSpace(`${char}a${char}`)).toBe(`${char}a${char}`);
    },
  );

  test("matches the equivalent regular expression", () => {
    const space = fc.constantFrom(...whiteSpace.map((code) => String.fromCodePoint(code)));
    fc.assert(
      fc.property(fc.array(fc.oneof(space, fc.string({ unit: anyCharacter }))), (parts) => {
        const text = parts.join("");
        expect(trimWhiteSpace(text)).toBe(text.replace(/^\p{White_Space}+/u, "").replace(/\p{White_Space}+$/u, ""));
      }),
    );
  });

  test("trims text with 256 KiB of inner spaces in less than a second", () => {
    const text = `a${" ".repeat(256 * 1_024)}b`;
    const start = process.cpuUsage();
    expect(trimWhiteSpace(text)).toBe(text);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(1_000); // a backtracking pattern takes a minute here
  });
});
