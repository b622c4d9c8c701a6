import type { AppEnv } from "../context.ts";
import { failure } from "../envelope.ts";
import { isAppOrigin } from "./app-origin.ts";
import { defineGuard } from "./define-guard.ts";

export const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses an unsafe request that a browser says comes from elsewhere: any Origin but the app's, also `null` and the API's own
 * siblings. A client without an Origin is no browser, and the Lax cookie keeps browsers' cross-site posts anonymous anyway.
 * hono/csrf looks at forms only and is content with one of the two headers; here both have to be right (CONTRACT 0).
 */
export const sameOriginGuard = defineGuard<AppEnv>({ refusesOnChange: ["csrf_failed"] }, async (c, next) => {
  if (!safeMethods.has(c.req.method)) {
    const origin = c.req.header("origin");
    const isForeign = origin !== undefined && !isAppOrigin(c, origin);
    if (isForeign || c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return failure(c, "csrf_failed");
  }
  return next();
});
