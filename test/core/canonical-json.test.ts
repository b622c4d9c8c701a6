// Tests canonical JSON: the examples in RFC 8785, and every value that JSON cannot represent exactly.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toCanonicalJson, type Json } from "../../core/canonical-json.ts";
import { anyCharacter } from "../support/characters.ts";

describe("toCanonicalJson", () => {
  test("serializes the sample of RFC 8785 section 3.2.2 as printed there", () => {
    const sample = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    ) as Json;
    expect(toCanonicalJson(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("sorts keys by UTF-16 code unit, as in RFC 8785 section 3.2.3", () => {
    const sample = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
    expect([...toCanonicalJson(sample).matchAll(/:(\d)/g)].map(([, value]) => value)).toEqual(["2", "4", "6", "7", "1", "5", "3"]);
  });

  test.each<readonly [string, string]>([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("serializes the double %s of RFC 8785 appendix B as %s", (hex, text) => {
    const double = new DataView(new Uint8Array((hex.match(/../g) as string[]).map((pair) => Number.parseInt(pair, 16))).buffer).getFloat64(
      0,
    );
    expect(toCanonicalJson(double)).toBe(text);
  });

  test("escapes only the characters that must be escaped, each in one spelling", () => {
    expect(toCanonicalJson('\b\t\n\f\r"\\\u0000\u001f\u007f\u2028\u2029/é😀')).toBe(
      String.raw`"\b\t\n\f\r\"\\\u0000\u001f${"\u007f\u2028\u2029"}/é😀"`,
    );
  });

  class Wrapped {
    readonly a = 1;
  }
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  const sparse = [1, , 3];
  test.each<readonly [string, unknown]>([
    ["undefined", undefined],
    ["undefined in an object", { entities_rejected: undefined }],
    ["undefined in a list", [undefined]],
    ["a hole in a list", sparse],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["a lone high surrogate", "a\ud800"],
    ["a lone low surrogate", "\udc00"],
    ["a lone surrogate as a key", { "\ud800": 1 }],
    ["a Date", new Date(0)],
    ["a Map", new Map()],
    ["a Set", new Set()],
    ["bytes", new Uint8Array(2)],
    ["an instance of a class", new Wrapped()],
    ["a boxed text", Object("a")],
    ["a big integer", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol("a")],
    ["an object with toJSON", Object.assign(Object.create({ toJSON: () => "x" }), { a: 1 })],
  ])("throws for %s instead of serializing it differently (F5)", (_name, value) => {
    expect(() => toCanonicalJson(value as Json)).toThrow(TypeError);
  });

  test("accepts an object without a prototype", () => {
    expect(toCanonicalJson(Object.assign(Object.create(null), { b: 1, a: [] }) as Json)).toBe('{"a":[],"b":1}');
  });

  test("treats __proto__ as an ordinary key", () => {
    expect(toCanonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}') as Json)).toBe('{"__proto__":{"a":2},"b":1}');
  });

  test("round-trips any value to the same text", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Json;
        const text = toCanonicalJson(plain);
        expect(JSON.parse(text)).toEqual(plain);
        expect(toCanonicalJson(JSON.parse(text) as Json)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test("does not depend on the insertion order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.integer()), (record) => {
        const reversed = Object.fromEntries(Object.entries(record).reverse());
        expect(toCanonicalJson(reversed)).toBe(toCanonicalJson({ ...record }));
      }),
    );
  });
});
