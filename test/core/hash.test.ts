// Text is hashed as its UTF-8 bytes, however long it is and whatever was hashed before it.
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../core/bytes.ts";
import { hmacSha256, isEqualConstantTime, sha256, sha256Hex } from "../../core/hash.ts";
import { anyCharacter } from "../support/characters.ts";

const platformHex = (data: string): string => createHash("sha256").update(Buffer.from(data, "utf8")).digest("hex");
const short = fc.string({ unit: anyCharacter, maxLength: 300 });
/** Around the length from which text is encoded in another place: a random piece again and again, since eleven thousand random ones take long. */
const long = fc
  .tuple(fc.string({ minLength: 1, maxLength: 40 }), fc.integer({ min: 10_800, max: 11_100 }))
  .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length));
const text = fc.oneof(short, long);

describe("SHA-256", () => {
  test("of text is that of its UTF-8 bytes, for short and long text in any order", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), (texts) => {
        for (const one of texts) {
          expect(sha256Hex(one)).toBe(platformHex(one));
          expect(sha256(encodeUtf8(one))).toEqual(sha256(one));
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([10_922, 10_923, 32_768, 100_000])("of %i characters of three bytes each", (length) => {
    expect(sha256Hex("€".repeat(length))).toBe(platformHex("€".repeat(length)));
  });

  test("a digest is 32 bytes of its own, which the next one leaves as they are", () => {
    const first = sha256("first");
    const copy = first.slice();
    sha256("second");
    expect(first).toEqual(copy);
    expect(first).toHaveLength(32);
    expect(first.constructor).toBe(Uint8Array);
  });
});

describe("HMAC-SHA-256", () => {
  test("is the platform's, over text and bytes alike", () => {
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

test("secrets are equal when every character is", () => {
  expect(isEqualConstantTime("token", "token")).toBe(true);
  expect(isEqualConstantTime("token", "tokem")).toBe(false);
  expect(isEqualConstantTime("token", "token ")).toBe(false);
});
