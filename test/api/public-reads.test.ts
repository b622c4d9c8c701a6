// Tests the limits per IP address on public reads and on requests with an invalid credential. Requests above a limit do not reach the
// database.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { generateSecret, type ShardId } from "../../core/ids.ts";
import { countDatabaseCalls, type CallCount } from "../support/counted-database.ts";
import { stopClock } from "../support/stopped-clock.ts";
import { createServiceCall, world, type TestResponse, type Call } from "../support/world.ts";

const strict = { DEV_RATE_SCALE: "1" };
const from = (ip: string, more: Record<string, string> = {}): RequestInit => ({ headers: { "cf-connecting-ip": ip, ...more } });
const generateWrongKey = (): string =>
  generateSecret("sk_live_", "00" as ShardId, (count) => crypto.getRandomValues(new Uint8Array(count)));
const listWithKey = (service: Call, ip: string, key: string): Promise<TestResponse> =>
  service("/v1/certs", from(ip, { authorization: `Bearer ${key}` }));

describe("Q1: public reads", () => {
  test.each([
    "/health",
    "/v1/health",
    "/",
    "/withdraw",
    "/status",
    "/docs",
    "/v1/openapi.json",
    "/.well-known/jwks.json",
    "/.well-known/svc-trust.json",
    "/ledger/test/checkpoint",
    "/audit/00/checkpoint",
  ])("of %s return 429 past the limit per minute for that address alone", async (path) => {
    const service = createServiceCall({ ...strict, LIMIT_PUBLIC_READ_PER_IP: "3/60" });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await service(path, from("203.0.113.77"))).status);
    expect(statuses.filter((status) => status === 429)).toEqual([429]);
    expect(statuses[3]).toBe(429);
    expect((await service(path, from("203.0.113.78"))).status).not.toBe(429);
  });

  test.each(["/ledger/test/checkpoint", "/ledger/test/tile/0/zzz", "/audit/00/checkpoint", "/audit/00/proof?index=x"])(
    "of %s, which a log responds to, contain the RateLimit headers",
    async (path) => {
      const { headers } = await createServiceCall(strict)(path, from("203.0.113.80"));
      expect([headers.get("ratelimit-limit"), headers.get("ratelimit-remaining")]).toEqual(["300", expect.stringMatching(/^\d+$/)]);
      expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThan(0);
    },
  );

  test("are limited to 300 per minute by default", async () => {
    const response = await createServiceCall(strict)("/v1/health", from("203.0.113.79"));
    expect(response.headers.get("ratelimit-limit")).toBe("300");
  });
});

const countReads = () => {
  const reads: CallCount = { calls: 0 };
  return { reads, service: createServiceCall({ ...strict, DB: countDatabaseCalls(env.DB, reads) }) };
};

describe("Q2: unknown API keys", () => {
  test("cost a database at most sixty reads a minute per address, and do not block a working key from there", async () => {
    stopClock();
    const { reads, service } = countReads();
    const ip = "203.0.113.90";
    // The IP address uses a valid key before the wrong ones.
    expect((await listWithKey(service, ip, world.acme.keys.live)).status).toBe(200);
    const before = reads.calls;
    expect(before).toBeGreaterThan(0);
    const statuses: number[] = [];
    for (let n = 0; n < 100; n += 1) statuses.push((await listWithKey(service, ip, generateWrongKey())).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
    expect(reads.calls - before).toBe(60);
    expect((await listWithKey(service, ip, world.acme.keys.live)).status).toBe(200);
    expect((await listWithKey(service, "203.0.113.91", world.other.keys.live)).status).toBe(200);
  });

  test("cost at most sixty reads when they arrive at the same time", async () => {
    stopClock();
    const { reads, service } = countReads();
    const responses = await Promise.all(Array.from({ length: 100 }, () => listWithKey(service, "203.0.113.92", generateWrongKey())));
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(40);
    expect(reads.calls).toBe(60);
  });
});

describe("Q3: unknown agent tokens and sessions", () => {
  const generateAgentToken = () => generateSecret("pat_", "00" as ShardId, (count) => crypto.getRandomValues(new Uint8Array(count)));
  const generateSessionCookie = () =>
    `svc_session=${generateSecret("ses_", "00" as ShardId, (count) => crypto.getRandomValues(new Uint8Array(count)))}`;

  test("of agents cost at most sixty reads a minute per address, counted together with API keys", async () => {
    const { reads, service } = countReads();
    const call = () =>
      service("/mcp", {
        method: "POST",
        headers: { "cf-connecting-ip": "203.0.113.93", authorization: `Bearer ${generateAgentToken()}` },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      });
    expect((await listWithKey(service, "203.0.113.93", generateWrongKey())).status).toBe(401);
    const statuses: number[] = [];
    for (let n = 0; n < 70; n += 1) statuses.push((await call()).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(59);
    expect((await call()).headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
    expect(reads.calls).toBe(60);
  });

  test.each([
    ["GET", "/v1/auth/session", 401],
    ["GET", "/portal", 303],
    ["GET", "/portal/sign-in", 200],
    ["GET", "/app", 200],
    ["POST", "/v1/shares/shr_00000000000000000000000000/revoke", 401],
  ])("of people cost a limited number of reads a minute per address on %s %s", async (method, path, expected) => {
    const reads: CallCount = { calls: 0 };
    const service = createServiceCall({ ...strict, LIMIT_UNKNOWN_SESSIONS_PER_IP: "4/60", DB: countDatabaseCalls(env.DB, reads) });
    const send = () => service(path, { method, redirect: "manual", ...from("203.0.113.94", { cookie: generateSessionCookie() }) });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await send()).status);
    expect(statuses).toEqual([expected, expected, expected, expected, 429, 429]);
    expect(reads.calls).toBe(4);
  });
});
