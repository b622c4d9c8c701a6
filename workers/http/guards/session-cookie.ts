// Reads, sets and clears the session cookie.
import type { Context } from "hono";
import { setCookie, deleteCookie } from "hono/cookie";
import { sessionLifetimeMs, type Realm } from "../../../core/access/session.ts";
import { signOut } from "../../operations/access/sign-out.ts";
import type { RequestContext, AppEnv } from "../context.ts";
import { cookieOptions } from "../cookies.ts";
import { isPlainHttp } from "./app-origin.ts";

const sessionCookieName = "svc_session";

/**
 * Returns the token in the session cookie. If the request has two session cookies, a sibling host may have planted one, so both are
 * ignored. Hono's getCookie would return one of them.
 */
export const getSessionToken = (c: RequestContext): string | null => {
  const prefix = `${isPlainHttp(c) ? "" : "__Host-"}${sessionCookieName}=`;
  const values = (c.req.header("cookie") ?? "")
    .split(";")
    .flatMap((pair) => (pair.trim().startsWith(prefix) ? [pair.trim().slice(prefix.length)] : []));
  return values.length === 1 ? (values[0] as string) : null;
};

export const setSessionCookie = (c: Context<AppEnv>, token: string, realm: Realm): void =>
  setCookie(c, sessionCookieName, token, { ...cookieOptions(c), maxAge: Math.floor(sessionLifetimeMs[realm] / 1_000) });

/** Deletes the cookie and the browser storage of an ended session. */
export const clearSession = <Caller extends AppEnv>(c: Context<Caller>): void => {
  deleteCookie(c, sessionCookieName, cookieOptions(c));
  c.header("Clear-Site-Data", '"storage"');
};

/** Ends the session, if there is one. Always clears the cookie and the browser storage. */
export const signOutBrowser = async (c: Context<AppEnv>): Promise<void> => {
  const token = getSessionToken(c);
  if (token !== null) await signOut(c.var.services, token);
  clearSession(c);
};
