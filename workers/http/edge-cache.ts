// Caches log tiles and entries in Cloudflare's cache. Their content at a URL never changes. A cached response saves a request to the log's
// Durable Object. Only responses with `Cache-Control: public` and `immutable` are cached.
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";

const partialTilePattern = /\.p\/\d+$/;
const partialTileMaxAgeSeconds = 60; // short, because readers stop requesting a partial tile once the log has grown

/**
 * Returns the cache, or null if the runtime has none. Also returns null in development, where different services can have different logs at
 * the same URL.
 */
const getEdgeCache = (isDevelopment: boolean): Cache | null =>
  isDevelopment || typeof caches === "undefined" ? null : (caches.default ?? null);

export const edgeCached = createMiddleware<AppEnv>(async (c, next) => {
  const { config, waitUntil } = c.var.services;
  const cache = c.req.method === "GET" ? getEdgeCache(config.environment === "development") : null;
  if (cache === null) return next();
  const { origin, pathname } = new URL(c.req.url);
  const url = origin + pathname; // leave out the query, so that it cannot be used to bypass the cache
  const cached = await cache.match(url);
  if (cached !== undefined) return new Response(cached.body, cached);
  await next();
  const cacheControl = c.res.headers.get("Cache-Control") ?? "";
  if (c.res.status !== 200 || !cacheControl.startsWith("public") || !cacheControl.includes("immutable")) return;
  const copy = new Response(c.res.clone().body, { headers: c.res.headers });
  if (partialTilePattern.test(pathname)) copy.headers.set("Cache-Control", `public, max-age=${partialTileMaxAgeSeconds}`);
  waitUntil(() => cache.put(url, copy));
});
