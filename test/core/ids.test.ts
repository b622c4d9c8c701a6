// Tests identifiers and secrets: their format, and that they reveal only their shard.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseCertId,
  parseClientId,
  hasSecretShape,
  shardOfId,
  generateId,
  generateSecret,
  type ShardId,
  type IdPrefix,
  type SecretPrefix,
} from "../../core/ids.ts";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const prefixes = [
  "cc_",
  "shr_",
  "biz_",
  "con_",
  "mem_",
  "dom_",
  "key_",
  "whk_",
  "dlv_",
  "pol_",
  "tok_",
  "rmv_",
  "req_",
  "pc_live_",
  "pc_test_",
] as const satisfies readonly IdPrefix[];
const secretPrefixes = ["sk_live_", "sk_test_", "pat_", "ac_"] as const satisfies readonly SecretPrefix[];
const toShardId = (text: string): ShardId => text as ShardId;
const shards = fc.tuple(fc.constantFrom(...alphabet), fc.constantFrom(...alphabet)).map(([a, b]) => toShardId(a + b));

/** Decodes five bits per character, most significant bit first. */
const decodeCrockford = (text: string): number[] => {
  const bits = [...text].map((char) => alphabet.indexOf(char).toString(2).padStart(5, "0")).join("");
  return (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
};

describe("generateId", () => {
  test("returns the prefix, the shard and all 120 random bits", () => {
    fc.assert(
      fc.property(fc.constantFrom(...prefixes), shards, fc.uint8Array({ minLength: 15, maxLength: 15 }), (prefix, at, bytes) => {
        const id = generateId(prefix, at, (count) => {
          expect(count).toBe(15);
          return bytes;
        });
        expect(id.slice(0, prefix.length + 2)).toBe(prefix + at);
        expect(id.slice(prefix.length + 2)).toMatch(/^[0-9a-hjkmnp-tv-z]{24}$/);
        expect(decodeCrockford(id.slice(prefix.length + 2))).toEqual([...bytes]);
        expect(shardOfId(id)).toBe(at);
      }),
      { numRuns: 1_000 },
    );
  });

  test("returns consecutive IDs in no particular order", () => {
    const ids = Array.from({ length: 1_000 }, () =>
      generateId("cc_", toShardId("00"), (count) => crypto.getRandomValues(new Uint8Array(count))),
    );
    expect(new Set(ids).size).toBe(1_000);
    const rising = ids.filter((id, at) => at > 0 && id > (ids[at - 1] as string)).length;
    expect(rising).toBeGreaterThan(400); // 500 are expected; the standard deviation is at most sqrt(1000) / 2 = 16, so 400 is more than six deviations away
    expect(rising).toBeLessThan(600);
  });

  const body = "00m3v9d2m4q8x1c7b5n0t6w2h9";
  test.each([
    ["an id", `cc_${body}`, true],
    ["one character short", `cc_${body.slice(1)}`, false],
    ["one character long", `cc_${body}0`, false],
    ["upper case", `cc_${body.toUpperCase()}`, false],
    ["an upper-case prefix", `CC_${body}`, false],
    ["the letter i", `cc_i${body.slice(1)}`, false],
    ["the letter l", `cc_l${body.slice(1)}`, false],
    ["the letter o", `cc_o${body.slice(1)}`, false],
    ["the letter u", `cc_u${body.slice(1)}`, false],
    ["a line break at the end", `cc_${body}\n`, false],
    ["a space before it", ` cc_${body}`, false],
    ["another prefix", `shr_${body}`, false],
    ["no prefix", body, false],
    ["nothing", "", false],
    ["wide digits", `cc_\uff10${body.slice(1)}`, false],
    ["a path", `cc_${body}/../x`, false],
  ])("parseCertId decides on an id: %s", (_name, text, isOne) => {
    expect(parseCertId(text) !== null).toBe(isOne);
  });

  test.each([
    [`pc_live_${body}`, true],
    [`pc_test_${body}`, true],
    [`pc_${body}`, false],
    [`pc_prod_${body}`, false],
    [`cc_${body}`, false],
    ["pc_live_", false],
  ])("parseClientId decides on %s", (text, isOne) => {
    expect(parseClientId(text) !== null).toBe(isOne);
  });
});

describe("generateSecret", () => {
  test("returns the prefix, the shard and 256 random bits", () => {
    fc.assert(
      fc.property(fc.constantFrom(...secretPrefixes), shards, fc.uint8Array({ minLength: 32, maxLength: 32 }), (prefix, at, bytes) => {
        const secret = generateSecret(prefix, at, (count) => {
          expect(count).toBe(32);
          return bytes;
        });
        expect(secret.startsWith(prefix + at)).toBe(true);
        expect([...Buffer.from(secret.slice(prefix.length + 2), "base64url")]).toEqual([...bytes]);
        expect(shardOfId(secret)).toBe(at);
        expect(secretPrefixes.filter((other) => hasSecretShape(secret, other))).toEqual([prefix]);
      }),
      { numRuns: 500 },
    );
  });

  const secret = generateSecret("sk_live_", toShardId("00"), (count) => new Uint8Array(count).fill(7));
  test.each([
    ["one character short", secret.slice(0, -1)],
    ["one character long", `${secret}A`],
    ["another character", `${secret.slice(0, -1)}!`],
    ["a line break at the end", `${secret}\n`],
    ["upper case", secret.toUpperCase()],
    ["the prefix alone", "sk_live_"],
    ["no characters", ""],
  ])("hasSecretShape returns false for a key with %s", (_name, text) => {
    expect(hasSecretShape(text, "sk_live_", "sk_test_")).toBe(false);
  });

  test("shardOfId returns the first two characters of text without a known prefix", () => {
    for (const text of ["", "x", "__proto__", "constructor"]) expect(shardOfId(text)).toBe(text.slice(0, 2));
  });
});
