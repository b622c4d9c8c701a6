// Tests strict I-JSON parsing with a table of cases and two references. For valid documents, the reference is JSON.parse. For invalid ones,
// it is a second parser with a different design (recursive descent, one character at a time).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../core/bytes.ts";
import { parseIJson } from "../../core/i-json.ts";
import { anyCharacter } from "../support/characters.ts";

const parseText = (text: string | Uint8Array): unknown => {
  const read = parseIJson(typeof text === "string" ? encodeUtf8(text) : text);
  return read.ok ? read.value : read.detail;
};
const nestArrays = (depth: number, inner = "1"): string => "[".repeat(depth) + inner + "]".repeat(depth);

test("parseIJson keeps no state after bytes that are not UTF-8", () => {
  for (const broken of [[0x22, 0xe2, 0x82], [0xff], [0xf0, 0x9f]]) {
    expect(parseIJson(Uint8Array.from(broken)).ok).toBe(false);
    expect(parseText('{"a":"€"}')).toEqual({ a: "€" });
  }
});

class NotIJson extends Error {}

/** The reference parser: slow, simple and strict. */
const parseWithOracle = (text: string): unknown => {
  let at = 0;
  const fail = (): never => {
    throw new NotIJson();
  };
  const skipSpace = (): void => {
    while (at < text.length && " \t\n\r".includes(text[at] as string)) at += 1;
  };
  const parseString = (): string => {
    let out = "";
    for (at += 1; ; at += 1) {
      const char = text[at];
      if (char === undefined || char < " ") fail();
      if (char === '"') break;
      if (char !== "\\") {
        out += char;
        continue;
      }
      at += 1;
      const letter = text[at] as string;
      if (letter === "u") {
        const hex = text.slice(at + 1, at + 5);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail();
        out += String.fromCharCode(Number.parseInt(hex, 16));
        at += 4;
      } else {
        const meant = ({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" } as Record<string, string>)[letter];
        out += meant ?? fail();
      }
    }
    at += 1;
    for (let index = 0; index < out.length; index += 1) {
      const unit = out.charCodeAt(index);
      if (unit >= 0xdc00 && unit <= 0xdfff) fail();
      if (unit >= 0xd800 && unit <= 0xdbff) {
        const next = out.charCodeAt(index + 1);
        if (!(next >= 0xdc00 && next <= 0xdfff)) fail();
        index += 1;
      }
    }
    return out;
  };
  const parseValue = (depth: number): unknown => {
    skipSpace();
    const char = text[at];
    if (char === '"') return parseString();
    if (char === "{" || char === "[") {
      if (depth === 8) fail();
      const close = char === "{" ? "}" : "]";
      const members: [string, unknown][] = [];
      at += 1;
      skipSpace();
      if (text[at] === close) {
        at += 1;
        return char === "{" ? {} : [];
      }
      for (;;) {
        skipSpace();
        let key = String(members.length);
        if (char === "{") {
          if (text[at] !== '"') fail();
          key = parseString();
          if (members.some(([known]) => known === key)) fail();
          skipSpace();
          if (text[at] !== ":") fail();
          at += 1;
        }
        members.push([key, parseValue(depth + 1)]);
        skipSpace();
        if (text[at] === close) break;
        if (text[at] !== ",") fail();
        at += 1;
      }
      at += 1;
      if (char === "[") return members.map(([, item]) => item);
      const record = {};
      for (const [key, item] of members)
        Object.defineProperty(record, key, { value: item, enumerable: true, writable: true, configurable: true });
      return record;
    }
    for (const [word, meant] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return meant;
      }
    }
    const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/.exec(text.slice(at))?.[0];
    if (number === undefined || !Number.isFinite(Number(number))) fail();
    at += (number as string).length;
    return Number(number);
  };
  const read = parseValue(0);
  skipSpace();
  if (at !== text.length) fail();
  return read;
};

const parseAsOracle = (text: string): { readonly ok: boolean; readonly value?: unknown } => {
  try {
    return { ok: true, value: parseWithOracle(text) };
  } catch (error) {
    if (error instanceof NotIJson) return { ok: false };
    throw error;
  }
};

describe("parseIJson", () => {
  test.each<readonly [string, string | Uint8Array, string]>([
    ["nothing", "", "must be valid JSON"],
    ["white space", " \n", "must be valid JSON"],
    ["half an object", '{"a":1', "must be valid JSON"],
    ["two values", "{}{}", "must be valid JSON"],
    ["an extra comma", '{"a":1,}', "must be valid JSON"],
    ["an extra comma in a list", "[1,]", "must be valid JSON"],
    ["a comment", "{/**/}", "must be valid JSON"],
    ["single quotes", "{'a':1}", "must be valid JSON"],
    ["a bare key", "{a:1}", "must be valid JSON"],
    ["NaN", "NaN", "must be valid JSON"],
    ["Infinity", "-Infinity", "must be valid JSON"],
    ["undefined", "undefined", "must be valid JSON"],
    ["a hex number", "0x10", "must be valid JSON"],
    ["a leading zero", "01", "must be valid JSON"],
    ["a leading plus", "+1", "must be valid JSON"],
    ["a point without digits", "1.", "must be valid JSON"],
    ["a raw line break in text", '"a\nb"', "must be valid JSON"],
    ["a raw NUL in text", '"a\u0000b"', "must be valid JSON"],
    ["an unknown escape", String.raw`"\x41"`, "must be valid JSON"],
    ["half an escape", String.raw`"\u12"`, "must be valid JSON"],
    ["a form feed as white space", "\f1", "must be valid JSON"],
    ["a no-break space as white space", "\u00a01", "must be valid JSON"],
    ["a byte order mark", "\ufeff{}", "must be valid JSON"],
    ["a byte order mark of UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), "must be valid UTF-8"],
    ["UTF-16 without a mark", new Uint8Array([0x7b, 0, 0x7d, 0]), "must be valid JSON"],
    ["a continuation byte alone", new Uint8Array([0x22, 0x80, 0x22]), "must be valid UTF-8"],
    ["a truncated sequence", new Uint8Array([0x22, 0xe2, 0x82, 0x22]), "must be valid UTF-8"],
    ["a truncated sequence at the end", new Uint8Array([0x22, 0x61, 0x22, 0xf0, 0x9f]), "must be valid UTF-8"],
    ["an overlong slash", new Uint8Array([0x22, 0xc0, 0xaf, 0x22]), "must be valid UTF-8"],
    ["an overlong NUL", new Uint8Array([0x22, 0xc0, 0x80, 0x22]), "must be valid UTF-8"],
    ["a surrogate in UTF-8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), "must be valid UTF-8"],
    ["a pair of surrogates in UTF-8", new Uint8Array([0x22, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80, 0x22]), "must be valid UTF-8"],
    ["a code point past the last", new Uint8Array([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]), "must be valid UTF-8"],
    ["the byte FE", new Uint8Array([0x22, 0xfe, 0x22]), "must be valid UTF-8"],
    ["Latin-1", new Uint8Array([0x22, 0xe9, 0x22]), "must be valid UTF-8"],
    ["a lone high surrogate, escaped", String.raw`"\ud83d"`, "contains a lone surrogate"],
    ["a lone low surrogate, escaped", String.raw`["\ude00"]`, "contains a lone surrogate"],
    ["a pair in the wrong order", String.raw`"\ude00\ud83d"`, "contains a lone surrogate"],
    ["a lone surrogate as a key", String.raw`{"\ud83d":1}`, "contains a lone surrogate"],
    ["two surrogates in two texts", String.raw`["\ud83d","\ude00"]`, "contains a lone surrogate"],
    ["equal keys", '{"a":1,"a":1}', "contains the same key twice"],
    ["equal keys, one escaped", String.raw`{"a":1,"\u0061":2}`, "contains the same key twice"],
    ["equal keys apart", '{"a":{"b":1},"c":[{"a":1}],"a":2}', "contains the same key twice"],
    ["equal keys deep down", '{"x":[{"y":{"a":1,"b":2,"a":3}}]}', "contains the same key twice"],
    ["equal empty keys", '{"":1,"":2}', "contains the same key twice"],
    ["__proto__ twice", '{"__proto__":1,"__proto__":2}', "contains the same key twice"],
    ["nine levels", nestArrays(9), "nested too deeply"],
    ["nine levels of objects", `${'{"a":'.repeat(9)}1${"}".repeat(9)}`, "nested too deeply"],
    ["a hundred thousand levels", nestArrays(100_000), "nested too deeply"],
    ["a hundred thousand levels, never closed", "[".repeat(100_000), "must be valid JSON"],
    ["1e400", '{"n":1e400}', "a number is too large"],
    ["-1e400", "[-1e400]", "a number is too large"],
    ["a number of 400 digits", "9".repeat(400), "a number is too large"],
  ])("refuses %s", (_name, text, rule) => {
    expect(parseText(text)).toContain(rule);
  });

  test.each<readonly [string, string, unknown]>([
    ["null", "null", null],
    ["white space around", " \t\r\n{} \n", {}],
    ["eight levels", nestArrays(8), JSON.parse(nestArrays(8))],
    ["eight levels side by side", `[${nestArrays(7)},${nestArrays(7)}]`, JSON.parse(`[${nestArrays(7)},${nestArrays(7)}]`)],
    ["brackets in text", `"${"[{".repeat(50)}"`, "[{".repeat(50)],
    ["a quote and a backslash in text", String.raw`["\"","\\","\\\""]`, ['"', "\\", '\\"']],
    ["a pair, escaped", String.raw`"\ud83d\ude00"`, "😀"],
    ["a literal pair beside an escaped pair", String.raw`"😀\ud83d\ude00"`, "😀😀"],
    ["escaped NUL", String.raw`"\u0000"`, "\u0000"],
    ["the same key in two objects", '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ["keys that differ in case", '{"a":1,"A":2}', { a: 1, A: 2 }],
    ["keys that differ in Unicode form", '{"\u00e9":1,"e\u0301":2}', { "\u00e9": 1, "e\u0301": 2 }],
    ["a value equal to its key", '{"a":"a","b":"a"}', { a: "a", b: "a" }],
    ["the largest double", "1.7976931348623157e308", Number.MAX_VALUE],
    ["a number too small", "1e-400", 0],
    ["a byte order mark inside text", '"\ufeff"', "\ufeff"],
    ["U+2028 in text", '"\u2028"', "\u2028"],
    ["a noncharacter in text", '"\uffff"', "\uffff"],
  ])("accepts %s", (_name, text, value) => {
    expect(parseText(text)).toEqual(value);
  });

  test("keeps the key __proto__ as a member without changing a prototype", () => {
    const value = parseText('{"__proto__":{"polluted":true}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("returns what JSON.parse returns for every valid document, however it is spelled", () => {
    const formatJson = (value: unknown, indent: number, escaped: boolean): string => {
      const text = JSON.stringify(value, null, indent);
      return escaped ? text.replace(/[^\u0000-\u007e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`) : text;
    };
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 7 }), fc.nat(3), fc.boolean(), (value, indent, escaped) => {
        const text = formatJson(value, indent, escaped);
        expect(parseText(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test("agrees with the reference parser on documents with random changes", () => {
    const pieces = fc.constantFrom(
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "1",
      "-",
      "e9",
      "1e400",
      '"a"',
      '"a":1',
      String.raw`"\u0061":1`,
      "\\ud83d",
      "\\ude00",
      "null",
      " ",
      "\u0000",
      "😀",
      '{"a":1,"a":2}',
      nestArrays(8),
    );
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 5 }),
        fc.array(fc.tuple(fc.nat(), fc.nat(3), pieces), { maxLength: 3 }),
        (value, changes) => {
          let text = JSON.stringify(value);
          for (const [at, cut, piece] of changes) {
            const index = at % (text.length + 1);
            text = text.slice(0, index) + piece + text.slice(index + cut);
          }
          fc.pre(text.isWellFormed());
          const read = parseIJson(encodeUtf8(text));
          const expected = parseAsOracle(text);
          expect(read.ok, text).toBe(expected.ok);
          if (read.ok) expect(read.value).toEqual(expected.value);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("refuses bytes that are not UTF-8 at any position", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const body = new Uint8Array([0x22, ...bytes, 0x22]);
        const isUtf8 = Buffer.from(Buffer.from(body).toString("utf8")).equals(Buffer.from(body));
        if (!isUtf8) expect(parseText(body)).toContain("must be valid UTF-8");
      }),
      { numRuns: 3_000 },
    );
  });

  test("parses a body of the maximum size, regardless of its content", () => {
    const numbers = Array.from({ length: 130_000 }, () => 1);
    const members = Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 0] as const);
    expect(parseText(`"${"\\u0061".repeat(43_000)}"`)).toBe("a".repeat(43_000));
    expect(parseText(JSON.stringify(numbers))).toEqual(numbers);
    expect(parseText(`{${members.map(([name]) => `"${name}":0`).join(",")}}`)).toEqual(Object.fromEntries(members));
  });
});
