// What stands before the routes of people who are signed in: who they are, where their request comes from, and what their
// business may do just now. The cookie is the browser's to send, so every unsafe request must show that it comes from the app itself.
import type { Context, MiddlewareHandler } from "hono";
import { mayRead, mayWrite } from "../../core/access/entitlement.ts";
import { sessionLifeMs, type Realm } from "../../core/access/session.ts";
import { sessionOf } from "../operations/sign-in.ts";
import type { Api } from "./context.ts";
import { failure, refusal } from "./envelope.ts";
import { limited } from "./guards.ts";
import { setHeaders } from "./headers.ts";

/** Only development speaks plain http, where no browser would keep a `__Host-` cookie. */
const isPlainHttp = (c: Context<Api>): boolean =>
  c.var.services.config.environment === "development" && new URL(c.req.url).protocol === "http:";

const cookieName = (c: Context<Api>): string => (isPlainHttp(c) ? "svc_session" : "__Host-svc_session");

/** The token of the session cookie. Two cookies of the name were not both set by us, so neither is believed. */
export const sessionToken = (c: Context<Api>): string | null => {
  const start = `${cookieName(c)}=`;
  const values = (c.req.header("cookie") ?? "")
    .split(";")
    .flatMap((pair) => (pair.trim().startsWith(start) ? [pair.trim().slice(start.length)] : []));
  return values.length === 1 ? (values[0] as string) : null;
};

const giveCookie = (c: Context<Api>, value: string, maxAgeMs: number): void => {
  const secure = isPlainHttp(c) ? "" : "; Secure";
  setHeaders(c, {
    "Set-Cookie": `${cookieName(c)}=${value}; Path=/; Max-Age=${Math.floor(maxAgeMs / 1_000)}; HttpOnly${secure}; SameSite=Lax`,
  });
};

export const setSessionCookie = (c: Context<Api>, token: string, realm: Realm): void => giveCookie(c, token, sessionLifeMs[realm]);

export const clearSessionCookie = (c: Context<Api>): void => giveCookie(c, "", 0);

/** The app's own origin; in development also the one that was asked, since one machine has several names. */
const isApp = (c: Context<Api>, origin: string): boolean =>
  origin === new URL(c.var.services.config.appUrl).origin || (isPlainHttp(c) && origin === new URL(c.req.url).origin);

/** Readable by the app's own pages, with the cookie, wherever the API is; by nobody else's. Also on errors. */
export const appOnly: MiddlewareHandler<Api> = async (c, next) => {
  setHeaders(c, { Vary: "Origin" });
  const origin = c.req.header("origin");
  if (origin !== undefined && isApp(c, origin)) {
    setHeaders(c, {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Credentials": "true",
      "Access-Control-Expose-Headers":
        "X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Idempotency-Replayed",
    });
  }
  await next();
};

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses an unsafe request that a browser says comes from elsewhere: any Origin but the app's, also `null` and the API's own
 * siblings. A client without an Origin is no browser, and the Lax cookie keeps browsers' cross-site posts anonymous anyway.
 */
export const sameOrigin: MiddlewareHandler<Api> = async (c, next) => {
  if (!safeMethods.has(c.req.method)) {
    const origin = c.req.header("origin");
    const isForeign = origin !== undefined && !isApp(c, origin);
    if (isForeign || c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return failure(c, "csrf_failed");
  }
  await next();
};

/** 401 without a session that holds; 429 past the person's limit. */
export const signedIn: MiddlewareHandler<Api> = async (c, next) => {
  const session = await sessionOf(c.var.services, sessionToken(c));
  if (session === null) return failure(c, "unauthorized");
  c.set("session", session);
  const refused = limited(c, "SESSION", await c.var.services.takeExactly("SESSION", session.userId));
  if (refused !== null) return refused;
  await next();
};

/**
 * A member or owner of a business whose account allows it: reading while a payment is past due, writing only when none is.
 * Consumers are signed in, but not to a portal.
 */
export const portal: readonly MiddlewareHandler<Api>[] = [
  signedIn,
  async (c, next) => {
    const { session } = c.var;
    if (session?.realm !== "business") return failure(c, "forbidden");
    const allowed = safeMethods.has(c.req.method) ? mayRead(session.business.status) : mayWrite(session.business.status);
    if (!allowed.ok) return refusal(c, allowed);
    c.set("member", session);
    await next();
  },
];

/** After `portal`: what only an owner may do. */
export const ownerOnly: MiddlewareHandler<Api> = async (c, next) => {
  if (c.var.member?.role !== "owner") return failure(c, "owner_required");
  await next();
};
