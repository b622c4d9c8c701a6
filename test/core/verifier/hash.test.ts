// Tests the verifier's SHA-256 and HMAC-SHA-256 against published vectors and the runtime.
import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { hmacSha256, sha256, sha256Hex } from "../../../verifier/hash.ts";
import { createRandom } from "./repack.ts";

const createRandomBytes = (next: (below: number) => number, length: number): Uint8Array => Uint8Array.from({ length }, () => next(256));

describe("SHA-256", () => {
  test.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"],
    [
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
    ],
  ])("matches the FIPS 180-4 digest of %j", (message, digest) => {
    expect(sha256Hex(message)).toBe(digest);
  });

  test("matches the published digest of a million letters a", () => {
    expect(sha256Hex("a".repeat(1_000_000))).toBe("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  });

  test("matches the runtime for every length up to five blocks and 4,000 random messages", () => {
    const next = createRandom(1);
    const lengths = [...Array.from({ length: 321 }, (_, length) => length), ...Array.from({ length: 4_000 }, () => next(2_000))];
    for (const length of lengths) {
      const message = createRandomBytes(next, length);
      expect(toHex(sha256(message))).toBe(createHash("sha256").update(message).digest("hex"));
    }
  });

  test("hashes text as UTF-8, and hashes only the bytes of a subarray", () => {
    expect(sha256Hex("Zürich 😀")).toBe(sha256Hex(encodeUtf8("Zürich 😀")));
    const buffer = encodeUtf8("xxabcxx");
    expect(sha256Hex(buffer.subarray(2, 5))).toBe(sha256Hex("abc"));
  });
});

describe("HMAC-SHA-256", () => {
  test.each([
    ["0b".repeat(20), encodeUtf8("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    [
      toHex(encodeUtf8("Jefe")),
      encodeUtf8("what do ya want for nothing?"),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
    [
      "aa".repeat(131),
      encodeUtf8("Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ],
  ])("matches the RFC 4231 vector", (key, message, code) => {
    expect(toHex(hmacSha256(Uint8Array.from(Buffer.from(key, "hex")), message))).toBe(code);
  });

  test("matches the runtime for 2,000 random keys and messages", () => {
    const next = createRandom(2);
    for (let round = 0; round < 2_000; round += 1) {
      const key = createRandomBytes(next, next(150));
      const message = createRandomBytes(next, next(300));
      expect(toHex(hmacSha256(key, message))).toBe(createHmac("sha256", key).update(message).digest("hex"));
    }
  });
});
