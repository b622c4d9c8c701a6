// Guards for routes that need a session of any realm.
import type { AnySession } from "../../../core/access/session.ts";
import type { AnySessionEnv, RequestCaller, RequestContext, SessionEnv } from "../context.ts";
import { failure, type FailureResponse } from "../envelope.ts";
import { rateHeaders } from "../wire.ts";
import { findAnySession, findSession } from "./find-session.ts";
import { defineGuard, combineGuards } from "./define-guard.ts";
import { applyRateLimit, applySecondaryRateLimit } from "./rate-limits.ts";
import { safeMethods, sameOriginGuard } from "./same-origin.ts";

export const callerFromSession = ({ userId, ...session }: AnySession): RequestCaller => ({
  kind: "session",
  id: userId,
  businessId: session.realm === "business" ? session.business.id : null,
});

/**
 * Returns the rate limit key under which changes are counted. The owners of a business share one count, and its other members share
 * another. A member who uses up the limit therefore cannot keep the owners from removing the member or revoking a key.
 */
const toChangesKey = (session: AnySession): string => {
  const { businessId, id } = callerFromSession(session);
  if (businessId === null) return id;
  return session.realm === "business" && session.role === "owner" ? `${businessId} owners` : businessId;
};

/**
 * Counts a request toward the person's limit. If the request is a change, also counts it toward the account's limit. Returns the 429
 * response if a limit is exceeded, otherwise null.
 */
export const enforceSessionLimits = async (c: RequestContext, session: AnySession, isChange: boolean): Promise<FailureResponse | null> => {
  const { services } = c.var;
  const [requests, changes] = await Promise.all([
    services.takeExactly("SESSION", session.userId),
    isChange ? services.takeExactly("CHANGES_PER_ACCOUNT", toChangesKey(session)) : null,
  ]);
  return applyRateLimit(c, "SESSION", requests) ?? (changes && applySecondaryRateLimit(c, "CHANGES_PER_ACCOUNT", changes));
};

const createSessionGuard = <Found extends AnySession>(find: (c: RequestContext) => Promise<Found | null | FailureResponse>) =>
  defineGuard<{ Variables: AnySessionEnv["Variables"] & { session: Found } }>(
    {
      refuses: ["storage_unavailable"],
      when: {
        unauthorized: "The request has no active session. Sign in first.",
        rate_limited:
          "More than 120 requests per minute by one person, or 1,000 changes per hour by one consumer, by the owners of one business, or by its other members.",
      },
      responseHeaders: rateHeaders,
      security: [{ session: [] }],
    },
    async (c, next) => {
      const session = await find(c);
      if (session instanceof Response) return session;
      if (session === null) return failure(c, "unauthorized");
      c.set("session", session);
      c.set("caller", callerFromSession(session));
      return (await enforceSessionLimits(c, session, !safeMethods.has(c.req.method))) ?? next();
    },
  );

/** Responds with 403 to cross-site requests that change something, 401 without a valid session, and 429 above a rate limit. */
export const signedInGuard = combineGuards<SessionEnv>(sameOriginGuard, createSessionGuard(findSession));

/** Like `signedInGuard`, but also accepts people who were invited to a business and have not joined it. */
export const anySessionGuard = combineGuards<AnySessionEnv>(sameOriginGuard, createSessionGuard(findAnySession));
