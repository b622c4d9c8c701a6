// What stands before a handler: limits, credentials, cross-origin headers. Each guard is one middleware with one reason.
import type { Context, MiddlewareHandler } from "hono";
import { addressKey } from "../../core/access/address.ts";
import { mayRead } from "../../core/access/entitlement.ts";
import type { WindowState } from "../../core/access/window.ts";
import { authenticateKey } from "../operations/access.ts";
import type { LimitName } from "../limits.ts";
import type { Api } from "./context.ts";
import { failure, refusal } from "./envelope.ts";
import { respond, setHeaders } from "./headers.ts";

/** Sets the rate headers of a counted route; the answer is 429 when the window was full. */
export const limited = (c: Context<Api>, name: LimitName, state: WindowState): Response | null => {
  const limit = c.get("services").config.limits[name];
  const seconds = Math.max(1, Math.ceil(state.resetMs / 1_000));
  setHeaders(c, {
    "RateLimit-Limit": String(limit.count),
    "RateLimit-Remaining": String(state.remaining),
    "RateLimit-Reset": String(seconds),
  });
  if (state.allowed) return null;
  setHeaders(c, { "Retry-After": String(seconds) });
  return failure(c, "rate_limited");
};

/** Counts by the caller's address (IPv6 by its /64). */
export const limitByAddress =
  (name: LimitName): MiddlewareHandler<Api> =>
  async (c, next) => {
    const refused = limited(c, name, await c.get("services").takeByAddress(name, addressKey(c.get("ip"))));
    if (refused !== null) return refused;
    await next();
  };

/** 401, saying which scheme is meant. */
export const unauthorized = (c: Context<Api>): Response => {
  setHeaders(c, { "WWW-Authenticate": "Bearer" });
  return failure(c, "unauthorized");
};

/** `Authorization: Bearer sk_…`: finds the key, counts it, and lets only businesses that may read pass. */
export const apiKey: MiddlewareHandler<Api> = async (c, next) => {
  const found = await authenticateKey(c.get("services"), c.req.header("authorization") ?? null);
  if (!found.ok) return unauthorized(c);
  const principal = found.value;
  c.set("principal", principal);
  const refused = limited(c, "API_KEY", await c.get("services").takeExactly("API_KEY", principal.keyHash));
  if (refused !== null) return refused;
  const readable = mayRead(principal.business.status);
  if (!readable.ok) return refusal(c, readable);
  await next();
};

/** Readable from any page, never with credentials; also on errors, so that a script can tell what went wrong. */
export const anyOrigin: MiddlewareHandler<Api> = async (c, next) => {
  setHeaders(c, {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers":
      "X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Idempotency-Replayed, ETag",
  });
  await next();
};

/** Readable from the page that asked, named by its Origin, never with credentials; also on errors. */
export const callersOrigin: MiddlewareHandler<Api> = async (c, next) => {
  const origin = c.req.header("origin");
  if (origin !== undefined) {
    setHeaders(c, {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers":
        "X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Idempotency-Replayed",
    });
  }
  setHeaders(c, { Vary: "Origin" });
  await next();
};

/** Answers a preflight for `methods`; two hours is the longest any browser keeps it. */
export const preflight =
  (methods: string, headers: string): MiddlewareHandler<Api> =>
  async (c) => {
    setHeaders(c, {
      "Access-Control-Allow-Methods": methods,
      "Access-Control-Allow-Headers": headers,
      "Access-Control-Max-Age": "7200",
    });
    return respond(c, 204, null);
  };
