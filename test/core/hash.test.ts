// Tests that text is hashed as UTF-8, regardless of its length and of what was hashed before.
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../core/bytes.ts";
import { hmacSha256, isEqualConstantTime, sha256, sha256Hex } from "../../core/hash.ts";
import { anyCharacter } from "../support/characters.ts";

const hashWithPlatform = (data: string): string => createHash("sha256").update(Buffer.from(data, "utf8")).digest("hex");
const short = fc.string({ unit: anyCharacter, maxLength: 300 });
/**
 * Generates texts with lengths around the scratch buffer's limit. Each repeats one short random piece, because generating eleven thousand
 * random characters is slow.
 */
const long = fc
  .tuple(fc.string({ minLength: 1, maxLength: 40 }), fc.integer({ min: 10_800, max: 11_100 }))
  .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length));
const text = fc.oneof(short, long);

describe("sha256", () => {
  test("hashes text as its UTF-8 bytes, for short and long text in any order", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), (texts) => {
        for (const one of texts) {
          expect(sha256Hex(one)).toBe(hashWithPlatform(one));
          expect(sha256(encodeUtf8(one))).toEqual(sha256(one));
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([10_922, 10_923, 32_768, 100_000])("hashes %i three-byte characters as their UTF-8 bytes", (length) => {
    expect(sha256Hex("€".repeat(length))).toBe(hashWithPlatform("€".repeat(length)));
  });

  test("returns 32 bytes that later calls do not change", () => {
    const first = sha256("first");
    const copy = first.slice();
    sha256("second");
    expect(first).toEqual(copy);
    expect(first).toHaveLength(32);
    expect(first.constructor).toBe(Uint8Array);
  });
});

describe("hmacSha256", () => {
  test("matches the platform's HMAC for text and for bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), text, (key, message) => {
        const expected = new Uint8Array(createHmac("sha256", key).update(Buffer.from(message, "utf8")).digest());
        expect(hmacSha256(key, message)).toEqual(expected);
        expect(hmacSha256(key, encodeUtf8(message))).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });
});

test("isEqualConstantTime returns true only when every character is equal", () => {
  expect(isEqualConstantTime("token", "token")).toBe(true);
  expect(isEqualConstantTime("token", "tokem")).toBe(false);
  expect(isEqualConstantTime("token", "token ")).toBe(false);
});
