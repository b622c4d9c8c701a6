// What stands before the routes of people who are signed in: who they are, where their request comes from, and what their
// business may do just now. The cookie is the browser's to send, so every unsafe request must show that it comes from the app itself.
import type { Context, MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import { createMiddleware } from "hono/factory";
import { deleteCookie, setCookie } from "hono/cookie";
import { mayRead, mayWrite } from "../../core/access/entitlement.ts";
import { isFresh, personOf, sessionLifeMs, type Realm } from "../../core/access/session.ts";
import { sessionOf, signOut } from "../operations/access/sign-in.ts";
import type { Api, ConsumerCaller, MemberCaller, RequestContext, SessionCaller } from "./context.ts";
import { cookieOptions } from "./cookies.ts";
import { failure, refusal } from "./envelope.ts";
import { isAppOrigin, isPlainHttp, limited } from "./guards.ts";

const cookie = "svc_session";

/** The token of the session cookie. Two cookies of the name were not both set by us, so neither is believed; hono's getCookie takes one. */
export const sessionToken = (c: RequestContext): string | null => {
  const start = `${isPlainHttp(c) ? "" : "__Host-"}${cookie}=`;
  const values = (c.req.header("cookie") ?? "")
    .split(";")
    .flatMap((pair) => (pair.trim().startsWith(start) ? [pair.trim().slice(start.length)] : []));
  return values.length === 1 ? (values[0] as string) : null;
};

export const setSessionCookie = (c: Context<Api>, token: string, realm: Realm): void =>
  setCookie(c, cookie, token, { ...cookieOptions(c), maxAge: Math.floor(sessionLifeMs[realm] / 1_000) });

/** The browser keeps nothing of a session that has ended. */
export const forgetSession = <Caller extends Api>(c: Context<Caller>): void => {
  deleteCookie(c, cookie, cookieOptions(c));
  c.header("Clear-Site-Data", '"storage"');
};

/** Signs this browser out; without a session it only forgets. */
export const leaveSession = async (c: Context<Api>): Promise<void> => {
  const token = sessionToken(c);
  if (token !== null) await signOut(c.var.services, token);
  forgetSession(c);
};

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses an unsafe request that a browser says comes from elsewhere: any Origin but the app's, also `null` and the API's own
 * siblings. A client without an Origin is no browser, and the Lax cookie keeps browsers' cross-site posts anonymous anyway.
 * hono/csrf looks at forms only and is content with one of the two headers; here both have to be right (CONTRACT 0).
 */
export const sameOrigin = createMiddleware<Api>(async (c, next) => {
  if (!safeMethods.has(c.req.method)) {
    const origin = c.req.header("origin");
    const isForeign = origin !== undefined && !isAppOrigin(c, origin);
    if (isForeign || c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return failure(c, "csrf_failed");
  }
  await next();
});

/** 401 without a session that holds; 429 past the person's limit. */
export const signedIn = createMiddleware<SessionCaller>(async (c, next) => {
  const session = await sessionOf(c.var.services, sessionToken(c));
  if (session === null) return failure(c, "unauthorized");
  c.set("session", session);
  c.set("caller", { kind: "session", id: session.userId, businessId: session.realm === "business" ? session.business.id : null });
  const refused = limited(c, "SESSION", await c.var.services.takeExactly("SESSION", session.userId));
  if (refused !== null) return refused;
  await next();
});

const ofBusiness = (isReading: (c: Context<MemberCaller>) => boolean) =>
  createMiddleware<MemberCaller>(async (c, next) => {
    const { session } = c.var;
    if (session.realm !== "business") return failure(c, "forbidden");
    const allowed = isReading(c) ? mayRead(session.business.status) : mayWrite(session.business.status);
    if (!allowed.ok) return refusal(c, allowed);
    c.set("member", session);
    await next();
  });

/**
 * A member or owner of a business whose account allows it: reading while a payment is past due, writing only when none is.
 * Consumers are signed in, but not to a portal.
 */
export const behindPortal = (...more: Parameters<typeof every>): MiddlewareHandler<MemberCaller> =>
  every(
    signedIn,
    ofBusiness((c) => safeMethods.has(c.req.method)),
    ...more,
  );

/** Likewise of a POST that only reads: it is no GET because what it shows is entered in the audit chain. */
export const behindPortalToRead = (...more: Parameters<typeof every>): MiddlewareHandler<MemberCaller> =>
  every(
    signedIn,
    ofBusiness(() => true),
    ...more,
  );

const ofConsumer = createMiddleware<ConsumerCaller>(async (c, next) => {
  const { session } = c.var;
  if (session.realm !== "consumer") return failure(c, "forbidden");
  c.set("consumer", session);
  c.set("person", personOf(session));
  await next();
});

/** A consumer. Members of a business are signed in, but not to the consumer app. */
export const behindConsumer = (...more: Parameters<typeof every>): MiddlewareHandler<ConsumerCaller> =>
  every(signedIn, ofConsumer, ...more);

/** Behind a session: what a session alone is not enough for. 403 unless the person proved who they are in these last minutes. */
export const provedWithin = (minutes: number) =>
  createMiddleware<SessionCaller>(async (c, next) => {
    if (!isFresh(c.var.session, c.var.services.clock(), minutes))
      return failure(c, "forbidden", `This needs a proof of the last ${minutes} minutes that it is you: sign in again first.`);
    await next();
  });

/** Behind the portal: what only an owner may do. */
export const ownerOnly = createMiddleware<MemberCaller>(async (c, next) => {
  if (c.var.member.role !== "owner") return failure(c, "owner_required");
  await next();
});
