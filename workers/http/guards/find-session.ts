// Finds the session for a request's cookie. In a separate file, so that the agent server, which uses credential-lookup.ts, does not depend
// on sessions.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { AnySession, Session } from "../../../core/access/session.ts";
import { authenticateSession, isMalformedSessionToken } from "../../operations/access/authenticate-session.ts";
import type { RequestContext } from "../context.ts";
import type { FailureResponse } from "../envelope.ts";
import { lookUpCredential } from "./credential-lookup.ts";
import { getSessionToken } from "./session-cookie.ts";

/**
 * Returns the session for the request's cookie, null if there is no valid session, or the 429 response after too many failed lookups. Also
 * finds the sessions of people who were invited to a business but have not joined it. `deadlinesIn` is passed to `authenticateSession`.
 */
export const findAnySession = async (c: RequestContext, deadlinesIn?: Environment): Promise<AnySession | null | FailureResponse> => {
  const token = getSessionToken(c);
  if (token === null || isMalformedSessionToken(token)) return null;
  return lookUpCredential(c, "UNKNOWN_SESSIONS_PER_IP", token, () => authenticateSession(c.var.services, token, deadlinesIn));
};

/** Like `findAnySession`, but returns null for people who were invited but have not joined, because they have no account yet. */
export const findSession = async (c: RequestContext): Promise<Session | null | FailureResponse> => {
  const session = await findAnySession(c);
  return session !== null && "realm" in session && session.realm === "invited" ? null : session;
};
