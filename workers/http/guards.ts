// What stands before a handler: limits, credentials, cross-origin headers. Each guard is one middleware with one reason.
import type { Context, MiddlewareHandler } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { every, except } from "hono/combine";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { addressKey } from "../../core/access/address.ts";
import { mayRead } from "../../core/access/entitlement.ts";
import type { RelyingParty } from "../../core/access/passkey.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { WindowState } from "../../core/access/window.ts";
import type { LimitName } from "../limits.ts";
import { authenticateKey, isKnownKey } from "../operations/access/api-key.ts";
import type { Api, KeyCaller, RequestContext } from "./context.ts";
import { failure, refusal, type Failure } from "./envelope.ts";

/** Sets the rate headers of a counted route; the answer is 429 when the window was full. */
export const limited = (c: RequestContext, name: LimitName, state: WindowState): Failure | null => {
  const limit = c.var.services.config.limits[name];
  const seconds = String(Math.max(1, Math.ceil(state.resetMs / 1_000)));
  c.header("RateLimit-Limit", String(limit.count));
  c.header("RateLimit-Remaining", String(state.remaining));
  c.header("RateLimit-Reset", seconds);
  if (state.allowed) return null;
  c.header("Retry-After", seconds);
  return failure(c, "rate_limited");
};

/** Counts by the caller's address (IPv6 by its /64). */
export const limitByAddress = (name: LimitName) =>
  createMiddleware<Api>(async (c, next) => {
    const refused = limited(c, name, await c.var.services.takeByAddress(name, addressKey(c.var.ip)));
    if (refused !== null) return refused;
    await next();
  });

/** Of what anyone may read and nobody's record is. */
export const publicRead = limitByAddress("PUBLIC_READ_PER_IP");

const unauthorized = { message: (c: Context<Api>) => failure(c, "unauthorized"), wwwAuthenticateHeader: "Bearer" };

/** `Authorization: Bearer sk_…`. A missing, malformed, unknown and revoked key get the same answer. */
const knownKey = bearerAuth<KeyCaller>({
  verifyToken: async (token, c) => {
    const { services, ip } = c.var;
    if (!isKnownKey(services, token)) {
      const state = await services.takeByAddress("UNKNOWN_KEYS_PER_IP", addressKey(ip));
      const refused = state.allowed ? null : limited(c, "UNKNOWN_KEYS_PER_IP", state);
      if (refused !== null) throw new HTTPException(429, { res: refused });
    }
    const found = await authenticateKey(services, token);
    if (!found.ok) return false;
    c.set("principal", found.value);
    c.set("caller", { kind: "api_key", id: found.value.keyId, businessId: found.value.business.id });
    return true;
  },
  noAuthenticationHeader: unauthorized,
  invalidAuthenticationHeader: unauthorized,
  invalidToken: unauthorized,
});

const countedKey = createMiddleware<KeyCaller>(async (c, next) => {
  const refused = limited(c, "API_KEY", await c.var.services.takeExactly("API_KEY", c.var.principal.keyHash));
  if (refused !== null) return refused;
  await next();
});

const mayReadNow = createMiddleware<KeyCaller>(async (c, next) => {
  const readable = mayRead(c.var.principal.business.status);
  if (!readable.ok) return refusal(c, readable);
  await next();
});

type Guards = Parameters<typeof every>;

/** What stands before a route that asks for no credential. */
export const forAnyone = (...guards: Guards): MiddlewareHandler<Api> => every(...guards);

/** Finds the key, counts it, and lets only businesses that may read pass; then whatever else stands before the handler. */
export const behindApiKey = (...more: Guards): MiddlewareHandler<KeyCaller> => every(knownKey, countedKey, mayReadNow, ...more);

/** Of routes that a visitor's browser and the business's own server both call: a key that is sent must be right. */
export const optionalApiKey: MiddlewareHandler<{ Variables: Api["Variables"] & { principal?: Principal } }> = except(
  (c) => c.req.header("authorization") === undefined,
  knownKey,
);

const readableHeaders = [
  "X-Request-Id",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Idempotency-Replayed",
  "ETag",
];
const preflightSeconds = 7_200; // the longest any browser keeps an answer

interface CrossOrigin {
  readonly methods: readonly string[];
  readonly headers?: readonly string[];
}

/** Readable from any page, never with credentials; also on errors, so that a script can tell what went wrong. */
export const anyOrigin = ({ methods, headers = [] }: CrossOrigin) =>
  cors({ origin: "*", allowMethods: [...methods], allowHeaders: [...headers], exposeHeaders: readableHeaders, maxAge: preflightSeconds });

/** Readable from the page that asked, named by its Origin, never with credentials; also on errors. */
export const callersOrigin = ({ methods, headers = [] }: CrossOrigin) =>
  cors({
    origin: (origin) => origin || null,
    allowMethods: [...methods],
    allowHeaders: [...headers],
    exposeHeaders: readableHeaders,
    maxAge: preflightSeconds,
  });

/** Readable by the app's own pages, with the cookie, wherever the API is; by nobody else's. Also on errors. */
export const appOrigin = ({ methods, headers = [] }: CrossOrigin) => {
  const options = { allowMethods: [...methods], allowHeaders: [...headers], exposeHeaders: readableHeaders, maxAge: preflightSeconds };
  const ofApp = cors({ ...options, origin: (origin) => origin, credentials: true });
  const ofOthers = cors({ ...options, origin: () => null });
  return createMiddleware<Api>((c, next) => (isAppOrigin(c, c.req.header("origin") ?? "") ? ofApp(c, next) : ofOthers(c, next)));
};

/** Only development speaks plain http, where one machine has several names. */
export const isPlainHttp = (c: RequestContext): boolean =>
  c.var.services.config.environment === "development" && new URL(c.req.url).protocol === "http:";

/** The app's own origin; in development also the one that was asked. */
export const isAppOrigin = (c: RequestContext, origin: string): boolean =>
  origin === new URL(c.var.services.config.appUrl).origin || (isPlainHttp(c) && origin === new URL(c.req.url).origin);

/** To whom passkeys speak: the app; in development also `localhost` where that was asked, since a passkey is of one name. */
export const relyingParty = (c: RequestContext): RelyingParty => {
  const asked = new URL(c.req.url);
  const { hostname: id, origin } = isPlainHttp(c) && asked.hostname === "localhost" ? asked : new URL(c.var.services.config.appUrl);
  return { id, origin };
};
