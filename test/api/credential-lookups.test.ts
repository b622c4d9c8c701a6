// Guesses at API keys and agent tokens are limited by IP address; valid ones never count as guesses.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { toBase64Url } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { createServiceCall, world } from "../support/world.ts";

const few = { DEV_RATE_SCALE: "1", LIMIT_UNKNOWN_KEYS_PER_IP: "3/60" };
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}`, "cf-connecting-ip": "203.0.113.50" } });
const secret = (): string => `sk_live_00${toBase64Url(crypto.getRandomValues(new Uint8Array(32)))}`;
const insertKey = (key: string) =>
  env.DB.prepare(
    "INSERT INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at) VALUES (?, ?, 'live', ?, 'Many', ?, 0)",
  )
    .bind(`key_${sha256Hex(key).slice(0, 26)}`, world.acme.id, sha256Hex(key), key.slice(-4))
    .run();

describe("a valid API key", () => {
  test("that an isolate has not seen yet never counts as a guess", async () => {
    const call = createServiceCall(few);
    const keys = Array.from({ length: 6 }, secret);
    for (const key of keys) await insertKey(key);
    for (const key of keys) expect((await call("/v1/certs", withKey(key))).status).toBe(200);
  });

  test("works after others behind the same IP address have guessed too often, and their guesses stay limited", async () => {
    const call = createServiceCall(few);
    const guesses = [];
    for (let at = 0; at < 5; at += 1) guesses.push((await call("/v1/certs", withKey(secret()))).status);
    expect(guesses).toEqual([401, 401, 401, 429, 429]);
    const valid = secret();
    await insertKey(valid);
    expect((await call("/v1/certs", withKey(valid))).status).toBe(200);
  });
});
