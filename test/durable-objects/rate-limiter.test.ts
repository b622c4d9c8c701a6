// Tests the exact rate limit of an API key, on the object itself and through the API, and when a rate limiter deletes its storage.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { RateLimiter } from "../../durable-objects/rate-limiter/object.ts";
import { call, buildConsentRequest, getWithKey, buildSubmission, world, type TestResponse } from "../support/world.ts";

const objects = env.RATE_LIMITER;
let count = 0;
const createLimiter = (): DurableObjectStub<RateLimiter> => {
  count += 1;
  return objects.getByName(`test:${count}`);
};
const minute = { count: 120, seconds: 60 };

describe("a rate limit window", () => {
  test("allows exactly 120 of 500 simultaneous calls", async () => {
    const limiter = createLimiter();
    const states = await Promise.all(Array.from({ length: 500 }, () => limiter.take(minute, 1_000_000)));
    expect(states.filter(({ isAllowed }) => isAllowed)).toHaveLength(120);
    expect(new Set(states.filter(({ isAllowed }) => isAllowed).map(({ remaining }) => remaining)).size).toBe(120);
    for (const { isAllowed, remaining, resetMs } of states) {
      expect(resetMs).toBe(60_000);
      if (!isAllowed) expect(remaining).toBe(0);
    }
  });

  test("slides: a call is allowed when an earlier one leaves the window, not when a clock minute ends", async () => {
    const limiter = createLimiter();
    const take = async (times: number, now: number): Promise<number> => {
      let allowed = 0;
      for (let at = 0; at < times; at += 1) if ((await limiter.take({ count: 4, seconds: 60 }, now)).isAllowed) allowed += 1;
      return allowed;
    };
    expect(await take(2, 0)).toBe(2);
    expect(await take(5, 30_000)).toBe(2);
    expect(await take(5, 59_999)).toBe(0);
    expect(await take(5, 60_000)).toBe(2);
    expect(await take(5, 89_999)).toBe(0);
    expect(await take(5, 90_000)).toBe(2);
  });

  test("never has more calls than the limit, whenever they arrive", async () => {
    const limiter = createLimiter();
    const limit = { count: 5, seconds: 10 };
    const taken: number[] = [];
    let now = 0;
    for (let at = 0; at < 200; at += 1) {
      now += Math.trunc(Math.random() * 3_000);
      const state = await limiter.take(limit, now);
      if (state.isAllowed) taken.push(now);
      else expect(state.resetMs).toBe((taken.at(-5) as number) + 10_000 - now);
    }
    for (const end of taken) expect(taken.filter((at) => at > end - 10_000 && at <= end).length).toBeLessThanOrEqual(5);
    expect(taken.length).toBeGreaterThan(20);
  });

  test("allows several calls together or not at all, and returns when there is room for all", async () => {
    const limiter = createLimiter();
    const limit = { count: 5, seconds: 60 };
    expect(await limiter.take(limit, 0, 2)).toEqual({ isAllowed: true, remaining: 3, resetMs: 60_000 });
    expect(await limiter.take(limit, 10_000, 2)).toEqual({ isAllowed: true, remaining: 1, resetMs: 50_000 });
    expect(await limiter.take(limit, 20_000, 4)).toEqual({ isAllowed: false, remaining: 1, resetMs: 50_000 });
    expect(await limiter.take(limit, 20_000, 2)).toEqual({ isAllowed: false, remaining: 1, resetMs: 40_000 });
    expect(await limiter.take(limit, 20_000)).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(await limiter.take(limit, 60_000, 2)).toMatchObject({ isAllowed: true });
    expect(await limiter.take(limit, 60_000, 6)).toMatchObject({ isAllowed: false });
  });

  test("survives the eviction of its object", async () => {
    const limiter = createLimiter();
    for (let at = 0; at < 120; at += 1) await limiter.take(minute, 5_000);
    await evictDurableObject(limiter);
    expect((await limiter.take(minute, 64_999)).isAllowed).toBe(false);
    expect((await limiter.take(minute, 65_000)).isAllowed).toBe(true);
  });

  test("does not block callers after the clock was set back", async () => {
    const limiter = createLimiter();
    for (let at = 0; at < 120; at += 1) await limiter.take(minute, 86_400_000);
    expect(await limiter.take(minute, 1_000)).toMatchObject({ isAllowed: true, remaining: 119 });
  });
});

describe("the storage of a rate limiter", () => {
  const maxWindowMs = 100_000_000;
  const countTables = (limiter: DurableObjectStub<RateLimiter>): Promise<number> =>
    runInDurableObject(limiter, (_, { storage }) => storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'calls'").toArray().length);

  test("is deleted when the last call has left the longest possible window, and the limiter then counts from zero", async () => {
    const limiter = createLimiter();
    await limiter.take(minute, Date.now() - maxWindowMs);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await countTables(limiter)).toBe(0);
    expect(await limiter.take(minute, Date.now())).toMatchObject({ isAllowed: true, remaining: 119 });
  });

  test("stays while a call can still count, with another alarm", async () => {
    const limiter = createLimiter();
    const now = Date.now();
    await limiter.take(minute, now - maxWindowMs);
    await limiter.take(minute, now);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await limiter.take(minute, now)).toMatchObject({ remaining: 118 });
    expect(await runInDurableObject(limiter, (_, { storage }) => storage.getAlarm())).toBe(now + maxWindowMs);
  });
});

describe("an API key", () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const countStatuses = (responses: readonly TestResponse[]): Record<number, number> => {
    const counted: Record<number, number> = {};
    for (const { status } of responses) counted[status] = (counted[status] ?? 0) + 1;
    return counted;
  };
  const sendMany = (times: number, key: string): Promise<TestResponse[]> =>
    Promise.all(Array.from({ length: times }, (_, at) => getWithKey(at % 2 === 0 ? "/v1/certs?page=0" : "/v1/certs/nothing", key)));

  test("may make 120 calls in 60 seconds across all routes, and then gets the time to retry after", { timeout: 30_000 }, async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    const responses = await sendMany(500, world.acme.keys.live);
    expect(countStatuses(responses)[429]).toBe(380);
    for (const { status, headers, body } of responses) {
      expect(headers.get("ratelimit-limit")).toBe("120");
      expect(headers.get("ratelimit-remaining")).toMatch(/^(?:\d|[1-9]\d|1[01]\d)$/);
      expect(headers.get("ratelimit-reset")).toMatch(/^(?:[1-9]|[1-5]\d|60)$/);
      expect(headers.has("retry-after")).toBe(status === 429);
      if (status === 429) expect([headers.get("retry-after"), body.error.code]).toEqual(["60", "rate_limited"]);
    }
    expect((await getWithKey("/v1/certs", world.acme.keys.sandbox)).status).toBe(200);
    expect((await getWithKey("/v1/certs", world.other.keys.live)).status).toBe(200);
    const capturing = buildConsentRequest(buildSubmission(), { authorization: `Bearer ${world.acme.keys.live}` });
    expect((await call("/v1/consent", capturing)).status).toBe(429);

    vi.setSystemTime(start + 59_999);
    expect((await getWithKey("/v1/certs", world.acme.keys.live)).headers.get("retry-after")).toBe("1");
    vi.setSystemTime(start + 60_000);
    expect(countStatuses(await sendMany(130, world.acme.keys.live))[429]).toBe(10);
  });

  test("is counted regardless of the response and of how the header is written", async () => {
    const readRemaining = async (authorization: string): Promise<number> =>
      Number((await call("/v1/certs?page=0", { headers: { Authorization: authorization } })).headers.get("ratelimit-remaining"));
    const first = await readRemaining(`Bearer ${world.other.keys.sandbox}`);
    expect(await readRemaining(`bearer ${world.other.keys.sandbox}`)).toBe(first - 1);
    expect(await readRemaining(`BEARER ${world.other.keys.sandbox}`)).toBe(first - 2);
  });

  test("is not counted when it is invalid", async () => {
    const response = await getWithKey("/v1/certs", `${world.acme.keys.live.slice(0, -1)}_`);
    expect(response.status).toBe(401);
    expect(response.headers.has("ratelimit-limit")).toBe(false);
  });
});
