// CSRF protection for routes with a session cookie.
import type { AppEnv } from "../context.ts";
import { failure } from "../envelope.ts";
import { isAppOrigin } from "./app-origin.ts";
import { defineGuard } from "./define-guard.ts";

export const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses unsafe requests whose Origin is not the app's (including `null` and the service's other hosts), and unsafe requests that
 * Sec-Fetch-Site marks as cross-site. Allows requests without an Origin: current browsers send one with every unsafe request, and
 * SameSite=Lax keeps the cookie out of cross-site POSTs. Does not use hono/csrf, which checks only form media types and accepts a request
 * if only one of the two headers is correct.
 */
export const sameOriginGuard = defineGuard<AppEnv>({ refusesOnChange: ["csrf_failed"] }, async (c, next) => {
  if (!safeMethods.has(c.req.method)) {
    const origin = c.req.header("origin");
    const isOtherOrigin = origin !== undefined && !isAppOrigin(c, origin);
    if (isOtherOrigin || c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return failure(c, "csrf_failed");
  }
  return next();
});
