import type { Context } from "hono";
import { setCookie, deleteCookie } from "hono/cookie";
import { sessionLifetimeMs, type Realm } from "../../../core/access/session.ts";
import { signOut } from "../../operations/access/sign-out.ts";
import type { RequestContext, AppEnv } from "../context.ts";
import { cookieOptions } from "../cookies.ts";
import { isPlainHttp } from "./app-origin.ts";

const sessionCookieName = "svc_session";

/** The token of the session cookie. Two cookies of the name were not both set by us, so neither is believed; hono's getCookie takes one. */
export const getSessionToken = (c: RequestContext): string | null => {
  const start = `${isPlainHttp(c) ? "" : "__Host-"}${sessionCookieName}=`;
  const values = (c.req.header("cookie") ?? "")
    .split(";")
    .flatMap((pair) => (pair.trim().startsWith(start) ? [pair.trim().slice(start.length)] : []));
  return values.length === 1 ? (values[0] as string) : null;
};

export const setSessionCookie = (c: Context<AppEnv>, token: string, realm: Realm): void =>
  setCookie(c, sessionCookieName, token, { ...cookieOptions(c), maxAge: Math.floor(sessionLifetimeMs[realm] / 1_000) });

/** The browser keeps nothing of a session that has ended. */
export const clearSession = <Caller extends AppEnv>(c: Context<Caller>): void => {
  deleteCookie(c, sessionCookieName, cookieOptions(c));
  c.header("Clear-Site-Data", '"storage"');
};

/** Signs this browser out; without a session it only forgets. */
export const signOutBrowser = async (c: Context<AppEnv>): Promise<void> => {
  const token = getSessionToken(c);
  if (token !== null) await signOut(c.var.services, token);
  clearSession(c);
};
