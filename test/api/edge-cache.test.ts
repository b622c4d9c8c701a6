// Tests the edge cache in front of the logs. It caches full tiles for a year and partial tiles for a minute, and forwards every other
// request.
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import type { AppEnv } from "../../workers/http/context.ts";
import { edgeCached } from "../../workers/http/edge-cache.ts";

const immutable = "public, max-age=31536000, immutable";

/** Creates a log behind the cache. The log counts the requests that reach it. */
const createCachedLog = (cacheControl: string, environment = "production") => {
  const requests = { count: 0 };
  const backgroundWork: Promise<void>[] = [];
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("services", { config: { environment }, waitUntil: (work: () => Promise<void>) => void backgroundWork.push(work()) } as never);
    await next();
  });
  app.get("*", edgeCached, () => {
    requests.count += 1;
    return new Response(`tile ${requests.count}`, {
      headers: { "Cache-Control": cacheControl, "Content-Type": "application/octet-stream" },
    });
  });
  const read = async (path: string): Promise<readonly [string, string | null]> => {
    const answer = await app.request(`https://edge.example${path}`);
    const response = [await answer.text(), answer.headers.get("cache-control")] as const;
    await Promise.all(backgroundWork);
    return response;
  };
  return { requests, read };
};

describe("Q3: a log behind the edge cache", () => {
  test("serves a full tile once whatever query is added, and lets readers cache it for a year", async () => {
    const { requests, read } = createCachedLog(immutable);
    expect(await read("/audit/00/tile/0/001")).toEqual(["tile 1", immutable]);
    expect(await read("/audit/00/tile/0/001?again=1")).toEqual(["tile 1", immutable]);
    expect(requests.count).toBe(1);
  });

  test("caches a partial tile for a minute only", async () => {
    const { requests, read } = createCachedLog(immutable);
    await read("/audit/00/tile/0/000.p/5");
    expect(await read("/audit/00/tile/0/000.p/5")).toEqual(["tile 1", "public, max-age=60"]);
    expect(requests.count).toBe(1);
  });

  test.each(["no-store", "private, max-age=31536000, immutable", "public, max-age=300"])(
    "serves every request for a response with Cache-Control: %s",
    async (held) => {
      const { requests, read } = createCachedLog(held);
      await read(`/ledger/x/${encodeURIComponent(held)}`);
      await read(`/ledger/x/${encodeURIComponent(held)}`);
      expect(requests.count).toBe(2);
    },
  );

  test("is not cached in development, where one address serves many logs", async () => {
    const { requests, read } = createCachedLog(immutable, "development");
    await read("/audit/00/tile/0/007");
    await read("/audit/00/tile/0/007");
    expect(requests.count).toBe(2);
  });
});
