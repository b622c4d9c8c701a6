// The platform's cache in front of the logs: what never changes is asked of its object once, everything else each time.
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import type { AppEnv } from "../../workers/http/context.ts";
import { edgeCached } from "../../workers/http/edge-cache.ts";

const immutable = "public, max-age=31536000, immutable";

/** A log behind the cache, counting what reaches it. */
const logSaying = (cacheControl: string, environment = "production") => {
  const asked = { count: 0 };
  const later: Promise<void>[] = [];
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("services", { config: { environment }, waitUntil: (work: () => Promise<void>) => void later.push(work()) } as never);
    await next();
  });
  app.get("*", edgeCached, () => {
    asked.count += 1;
    return new Response(`tile ${asked.count}`, { headers: { "Cache-Control": cacheControl, "Content-Type": "application/octet-stream" } });
  });
  const read = async (path: string): Promise<readonly [string, string | null]> => {
    const answer = await app.request(`https://edge.example${path}`);
    const said = [await answer.text(), answer.headers.get("cache-control")] as const;
    await Promise.all(later);
    return said;
  };
  return { asked, read };
};

describe("Q3: a log behind the edge's cache", () => {
  test("is asked once for a full tile, whatever query is added, and its readers may keep it for good", async () => {
    const { asked, read } = logSaying(immutable);
    expect(await read("/audit/0/tile/0/001")).toEqual(["tile 1", immutable]);
    expect(await read("/audit/0/tile/0/001?again=1")).toEqual(["tile 1", immutable]);
    expect(asked.count).toBe(1);
  });

  test("keeps a partial tile for a minute only", async () => {
    const { asked, read } = logSaying(immutable);
    await read("/audit/0/tile/0/000.p/5");
    expect(await read("/audit/0/tile/0/000.p/5")).toEqual(["tile 1", "public, max-age=60"]);
    expect(asked.count).toBe(1);
  });

  test.each(["no-store", "private, max-age=31536000, immutable", "public, max-age=300"])(
    "is asked each time for what is %s",
    async (held) => {
      const { asked, read } = logSaying(held);
      await read(`/ledger/x/${encodeURIComponent(held)}`);
      await read(`/ledger/x/${encodeURIComponent(held)}`);
      expect(asked.count).toBe(2);
    },
  );

  test("has none in development, where one address serves many logs", async () => {
    const { asked, read } = logSaying(immutable, "development");
    await read("/audit/0/tile/0/007");
    await read("/audit/0/tile/0/007");
    expect(asked.count).toBe(2);
  });
});
