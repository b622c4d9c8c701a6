// Tests that guesses at API keys and agent tokens are limited by IP address, and that valid credentials never count as guesses.
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { toBase64Url } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { createServiceCall, world } from "../support/world.ts";

const few = { DEV_RATE_SCALE: "1", LIMIT_UNKNOWN_KEYS_PER_IP: "3/60" };
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}`, "cf-connecting-ip": "203.0.113.50" } });
const generateApiKey = (): string => `sk_live_00${toBase64Url(crypto.getRandomValues(new Uint8Array(32)))}`;
const insertKey = (key: string) =>
  env.DB.prepare(
    "INSERT INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at) VALUES (?, ?, 'live', ?, 'Many', ?, 0)",
  )
    .bind(`key_${sha256Hex(key).slice(0, 26)}`, world.acme.id, sha256Hex(key), key.slice(-4))
    .run();

describe("a valid API key", () => {
  test("that an isolate has not seen yet never counts as a guess", async () => {
    const call = createServiceCall(few);
    const keys = Array.from({ length: 6 }, generateApiKey);
    for (const key of keys) await insertKey(key);
    for (const key of keys) expect((await call("/v1/certs", withKey(key))).status).toBe(200);
  });

  test("never counts as a guess, even when more keys than the limit allows arrive at the same time", async () => {
    const call = createServiceCall(few);
    const keys = Array.from({ length: 12 }, generateApiKey);
    for (const key of keys) await insertKey(key);
    const responses = await Promise.all(keys.map((key) => call("/v1/certs", withKey(key))));
    expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200));
  });

  test("works while others behind the same IP address guess too often, if this isolate has seen it; otherwise it works a minute later", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    try {
      const call = createServiceCall(few);
      const [seen, unseen] = [generateApiKey(), generateApiKey()];
      await insertKey(seen);
      await insertKey(unseen);
      expect((await call("/v1/certs", withKey(seen))).status).toBe(200);
      const guesses = [];
      for (let at = 0; at < 5; at += 1) guesses.push((await call("/v1/certs", withKey(generateApiKey()))).status);
      expect(guesses).toEqual([401, 401, 401, 429, 429]);
      expect((await call("/v1/certs", withKey(seen))).status).toBe(200);
      const refused = await call("/v1/certs", withKey(unseen));
      expect([refused.status, refused.body.error.code, refused.headers.get("retry-after")]).toEqual([429, "rate_limited", "60"]);
      vi.setSystemTime(Date.now() + 60_000);
      expect((await call("/v1/certs", withKey(unseen))).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  test("counts as a guess once it is revoked, even if this isolate has seen it", async () => {
    const call = createServiceCall(few);
    const key = generateApiKey();
    await insertKey(key);
    expect((await call("/v1/certs", withKey(key))).status).toBe(200);
    await env.DB.prepare("UPDATE api_keys SET revoked_at = 1 WHERE key_hash = ?").bind(sha256Hex(key)).run();
    const statuses = [];
    for (let at = 0; at < 5; at += 1) statuses.push((await call("/v1/certs", withKey(key))).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });
});
