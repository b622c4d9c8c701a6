// What anyone may ask without a credential, or with a wrong one: counted by address before it costs a database or an object
// anything, and answered from the edge where it never changes.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { generateSecret, type ShardId } from "../../core/ids.ts";
import { createServiceCall, world, type TestResponse, type Call } from "../support/world.ts";

const strict = { DEV_RATE_SCALE: "1" };
const from = (ip: string, more: Record<string, string> = {}): RequestInit => ({ headers: { "cf-connecting-ip": ip, ...more } });
const wrongKey = (): string => generateSecret("sk_live_", "00" as ShardId, (count) => crypto.getRandomValues(new Uint8Array(count)));
const ask = (service: Call, ip: string, key: string): Promise<TestResponse> =>
  service("/v1/certs", from(ip, { authorization: `Bearer ${key}` }));

/** The database, counting what is asked of it. */
const counted = () => {
  const asked = { count: 0 };
  const binding = new Proxy(env.DB, {
    get: (target, name) => {
      if (name === "prepare" || name === "batch") asked.count += 1;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { asked, binding };
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
  ])("of %s are 429 past three hundred a minute from one address, and nobody else's are", async (path) => {
    const service = createServiceCall({ ...strict, LIMIT_PUBLIC_READ_PER_IP: "3/60" });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await service(path, from("203.0.113.77"))).status);
    expect(statuses.filter((status) => status === 429)).toEqual([429]);
    expect(statuses[3]).toBe(429);
    expect((await service(path, from("203.0.113.78"))).status).not.toBe(429);
  });

  test("the limit is three hundred unless it is set otherwise", async () => {
    const answer = await createServiceCall(strict)("/v1/health", from("203.0.113.79"));
    expect(answer.headers.get("ratelimit-limit")).toBe("300");
  });
});

describe("Q2: API keys that nobody has", () => {
  test("cost a database at most sixty readings a minute an address, and lock out no key that works there", async () => {
    const { asked, binding } = counted();
    const service = createServiceCall({ ...strict, DB: binding });
    const ip = "203.0.113.90";
    expect((await ask(service, ip, world.acme.keys.live)).status).toBe(200); // the office behind this address
    const before = asked.count;
    const statuses: number[] = [];
    for (let n = 0; n < 100; n += 1) statuses.push((await ask(service, ip, wrongKey())).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(59);
    expect(statuses.at(-1)).toBe(429);
    expect(asked.count - before).toBeLessThanOrEqual(60);
    expect((await ask(service, ip, world.acme.keys.live)).status).toBe(200);
    expect((await ask(service, "203.0.113.91", world.other.keys.live)).status).toBe(200);
  });
});
