// Cloudflare's cache for log tiles and entries, which never change at their URL. Requests that the cache can answer do not reach the
// Durable Object. Only responses marked public and immutable are cached.
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";

const partialTilePattern = /\.p\/\d+$/;
const partialTileMaxAgeSeconds = 60; // a partial tile never changes, but the next entry replaces it with a wider one

/**
 * Returns the cache, or null if the runtime has none. Also returns null in development, where every service has the same URL, because the
 * cache could return another service's log.
 */
const getEdgeCache = (isDevelopment: boolean): Cache | null =>
  isDevelopment || typeof caches === "undefined" ? null : (caches.default ?? null);

export const edgeCached = createMiddleware<AppEnv>(async (c, next) => {
  const { config, waitUntil } = c.var.services;
  const cache = c.req.method === "GET" ? getEdgeCache(config.environment === "development") : null;
  if (cache === null) return next();
  const { origin, pathname } = new URL(c.req.url);
  const url = origin + pathname; // the query is dropped so that it cannot bypass the cache
  const cached = await cache.match(url);
  if (cached !== undefined) return new Response(cached.body, cached);
  await next();
  const cacheControl = c.res.headers.get("Cache-Control") ?? "";
  if (c.res.status !== 200 || !cacheControl.startsWith("public") || !cacheControl.includes("immutable")) return;
  const copy = new Response(c.res.clone().body, { headers: c.res.headers });
  if (partialTilePattern.test(pathname)) copy.headers.set("Cache-Control", `public, max-age=${partialTileMaxAgeSeconds}`);
  waitUntil(() => cache.put(url, copy));
});
