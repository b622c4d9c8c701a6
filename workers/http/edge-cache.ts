// The platform's cache in front of what never changes under its address: tiles and entries of the logs. A tile that was asked for
// once costs its object nothing more. What may be kept is what its answer calls public and immutable, so nothing else ever is.
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";

const partialTilePattern = /\.p\/\d+$/;
const partialTileMaxAgeSeconds = 60; // true for good, but soon nobody asks for it: the next entry makes a wider one

/** Null where the runtime has no such cache. In development there is no edge, and one address serves many logs. */
const getEdgeCache = (isDevelopment: boolean): Cache | null =>
  isDevelopment || typeof caches === "undefined" ? null : (caches.default ?? null);

export const edgeCached = createMiddleware<AppEnv>(async (c, next) => {
  const { config, waitUntil } = c.var.services;
  const cache = c.req.method === "GET" ? getEdgeCache(config.environment === "development") : null;
  if (cache === null) return next();
  const { origin, pathname } = new URL(c.req.url);
  const address = origin + pathname; // a query changes nothing of a tile, so it must not get round the cache
  const kept = await cache.match(address);
  if (kept !== undefined) return new Response(kept.body, kept);
  await next();
  const held = c.res.headers.get("Cache-Control") ?? "";
  if (c.res.status !== 200 || !held.startsWith("public") || !held.includes("immutable")) return;
  const copy = new Response(c.res.clone().body, { headers: c.res.headers });
  if (partialTilePattern.test(pathname)) copy.headers.set("Cache-Control", `public, max-age=${partialTileMaxAgeSeconds}`);
  waitUntil(() => cache.put(address, copy));
});
