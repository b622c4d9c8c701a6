// Tests of requests with no credential or an invalid one: they are counted per address before they reach a database or a Durable Object.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { generateSecret, type ShardId } from "../../core/ids.ts";
import { createServiceCall, world, type TestResponse, type Call } from "../support/world.ts";

const strict = { DEV_RATE_SCALE: "1" };
const from = (ip: string, more: Record<string, string> = {}): RequestInit => ({ headers: { "cf-connecting-ip": ip, ...more } });
const wrongKey = (): string => generateSecret("sk_live_", "00" as ShardId, (count) => crypto.getRandomValues(new Uint8Array(count)));
const listWithKey = (service: Call, ip: string, key: string): Promise<TestResponse> =>
  service("/v1/certs", from(ip, { authorization: `Bearer ${key}` }));

/** Wraps the database and counts the calls to it. */
const counted = () => {
  const queries = { count: 0 };
  const binding = new Proxy(env.DB, {
    get: (target, name) => {
      if (name === "prepare" || name === "batch") queries.count += 1;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { queries, binding };
};

describe("Q1: public reads", () => {
  test.each([
    "/health",
    "/v1/health",
    "/",
    "/withdraw",
    "/docs",
    "/v1/openapi.json",
    "/.well-known/jwks.json",
    "/.well-known/svc-trust.json",
    "/ledger/test/checkpoint",
    "/audit/0/checkpoint",
  ])("of %s return 429 past the limit per minute for that address alone", async (path) => {
    const service = createServiceCall({ ...strict, LIMIT_PUBLIC_READ_PER_IP: "3/60" });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await service(path, from("203.0.113.77"))).status);
    expect(statuses.filter((status) => status === 429)).toEqual([429]);
    expect(statuses[3]).toBe(429);
    expect((await service(path, from("203.0.113.78"))).status).not.toBe(429);
  });

  test("are limited to 300 per minute by default", async () => {
    const answer = await createServiceCall(strict)("/v1/health", from("203.0.113.79"));
    expect(answer.headers.get("ratelimit-limit")).toBe("300");
  });
});

describe("Q2: unknown API keys", () => {
  test("cost a database at most sixty reads a minute per address, and do not block a working key from there", async () => {
    const { queries, binding } = counted();
    const service = createServiceCall({ ...strict, DB: binding });
    const ip = "203.0.113.90";
    expect((await listWithKey(service, ip, world.acme.keys.live)).status).toBe(200); // A valid key is used from the same address first.
    const before = queries.count;
    const statuses: number[] = [];
    for (let n = 0; n < 100; n += 1) statuses.push((await listWithKey(service, ip, wrongKey())).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
    expect(queries.count - before).toBeLessThanOrEqual(60);
    expect((await listWithKey(service, ip, world.acme.keys.live)).status).toBe(200);
    expect((await listWithKey(service, "203.0.113.91", world.other.keys.live)).status).toBe(200);
  });
});
