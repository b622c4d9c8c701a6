// What stands before the routes of people who are signed in: who they are, where their request comes from, and what their
// business may do just now. The cookie is the browser's to send, so every unsafe request must show that it comes from the app itself.
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { mayRead, mayWrite } from "../../core/access/entitlement.ts";
import { isFresh, personOf, sessionLifeMs, type Realm, type Session } from "../../core/access/session.ts";
import { sessionOf, signOut } from "../operations/access/sign-in.ts";
import type { Api, ConsumerCaller, KnownCaller, MemberCaller, RequestContext, SessionCaller } from "./context.ts";
import { cookieOptions } from "./cookies.ts";
import { failure, refusal } from "./envelope.ts";
import { guard, inTurn, type Guard } from "./guard.ts";
import { countedExactly, isAppOrigin, isPlainHttp } from "./guards.ts";
import { rateHeaders } from "./wire.ts";

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
export const sameOrigin = guard<Api>({ refusesChanges: ["csrf_failed"] }, async (c, next) => {
  if (!safeMethods.has(c.req.method)) {
    const origin = c.req.header("origin");
    const isForeign = origin !== undefined && !isAppOrigin(c, origin);
    if (isForeign || c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") return failure(c, "csrf_failed");
  }
  return next();
});

/** Who is signed in, for the log and for idempotency keys. */
export const sessionCaller = ({ userId, ...session }: Session): KnownCaller => ({
  kind: "session",
  id: userId,
  businessId: session.realm === "business" ? session.business.id : null,
});

const holdsSession = guard<SessionCaller>(
  {
    refuses: ["storage_unavailable"],
    when: { unauthorized: "No session, or it has ended.", rate_limited: "More than 120 a minute by one person." },
    sets: rateHeaders,
    security: [{ session: [] }],
  },
  async (c, next) => {
    const session = await sessionOf(c.var.services, sessionToken(c));
    if (session === null) return failure(c, "unauthorized");
    c.set("session", session);
    c.set("caller", sessionCaller(session));
    return (await countedExactly(c, "SESSION", session.userId)) ?? next();
  },
);

/** 401 without a session that holds; 429 past the person's limit. */
export const signedIn = inTurn<SessionCaller>(sameOrigin, holdsSession);

const ofBusiness = guard<MemberCaller>(
  {
    refuses: ["business_suspended", "business_inactive"],
    when: { forbidden: "A consumer is signed in, not a member of a business." },
  },
  async (c, next) => {
    const { session } = c.var;
    if (session.realm !== "business") return failure(c, "forbidden");
    const readable = mayRead(session.business.status);
    if (!readable.ok) return refusal(c, readable);
    c.set("member", session);
    return next();
  },
);

const mayChange = guard<MemberCaller>({ refusesChanges: ["subscription_past_due"] }, async (c, next) => {
  const writable = mayWrite(c.var.member.business.status);
  return safeMethods.has(c.req.method) || writable.ok ? next() : refusal(c, writable);
});

/**
 * A member or owner of a business whose account allows it: reading while a payment is past due, writing only when none is.
 * Consumers are signed in, but not to a portal.
 */
export const behindPortal = (...more: readonly Guard[]) => inTurn<MemberCaller>(signedIn, ofBusiness, mayChange, ...more);

/** Likewise of a POST that only reads: it is no GET because what it shows is entered in the audit chain. */
export const behindPortalToRead = (...more: readonly Guard[]) => inTurn<MemberCaller>(signedIn, ofBusiness, ...more);

const ofConsumer = guard<ConsumerCaller>(
  { when: { forbidden: "A member of a business is signed in, not a consumer." } },
  async (c, next) => {
    const { session } = c.var;
    if (session.realm !== "consumer") return failure(c, "forbidden");
    c.set("consumer", session);
    c.set("person", personOf(session));
    return next();
  },
);

/** A consumer. Members of a business are signed in, but not to the consumer app. */
export const behindConsumer = (...more: readonly Guard[]) => inTurn<ConsumerCaller>(signedIn, ofConsumer, ...more);

/** Behind a session: what a session alone is not enough for. 403 unless the person proved who they are in these last minutes. */
export const provedWithin = (minutes: number) => {
  const stale = `A member of a business is signed in, not a consumer; or the person's last proof, by code or passkey, is older than ${minutes} minutes.`;
  return guard<SessionCaller>({ when: { forbidden: stale } }, async (c, next) => {
    if (!isFresh(c.var.session, c.var.services.clock(), minutes))
      return failure(c, "forbidden", `This needs a proof of the last ${minutes} minutes that it is you: sign in again first.`);
    return next();
  });
};

/** Behind the portal: what only an owner may do. */
export const ownerOnly = guard<MemberCaller>({ refuses: ["owner_required"] }, async (c, next) => {
  return c.var.member.role === "owner" ? next() : failure(c, "owner_required");
});
