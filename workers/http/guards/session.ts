// Guard for routes that need a session of either realm.
import type { Session } from "../../../core/access/session.ts";
import type { RequestCaller, SessionEnv } from "../context.ts";
import { failure } from "../envelope.ts";
import { rateHeaders } from "../wire.ts";
import { findSession } from "./find-session.ts";
import { defineGuard, combineGuards } from "./define-guard.ts";
import { enforceLimit } from "./rate-limits.ts";
import { sameOriginGuard } from "./same-origin.ts";

/** Returns a session's caller, for the log and for idempotency keys. */
export const callerFromSession = ({ userId, ...session }: Session): RequestCaller => ({
  kind: "session",
  id: userId,
  businessId: session.realm === "business" ? session.business.id : null,
});

const requireSession = defineGuard<SessionEnv>(
  {
    refuses: ["storage_unavailable"],
    when: { unauthorized: "There is no session, or it has ended.", rate_limited: "More than 120 requests per minute by one person." },
    responseHeaders: rateHeaders,
    security: [{ session: [] }],
  },
  async (c, next) => {
    const session = await findSession(c);
    if (session instanceof Response) return session;
    if (session === null) return failure(c, "unauthorized");
    c.set("session", session);
    c.set("caller", callerFromSession(session));
    return (await enforceLimit(c, "SESSION", session.userId)) ?? next();
  },
);

/** Responds 403 to cross-site requests, 401 without a valid session, and 429 above the person's limit. */
export const signedInGuard = combineGuards<SessionEnv>(sameOriginGuard, requireSession);
