// Attributes for every cookie except the language cookie: sent to the whole host, not readable by scripts, and SameSite=Lax, so that
// links from other sites send the cookie but forms do not.
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { AppEnv, RequestContext } from "./context.ts";
import { isPlainHttp } from "./guards/app-origin.ts";

/** Browsers refuse `__Host-` cookies over plain http, so the prefix is left out in development over http. */
export const cookieOptions = (c: RequestContext) =>
  isPlainHttp(c)
    ? ({ path: "/", httpOnly: true, sameSite: "Lax" } as const)
    : ({ path: "/", httpOnly: true, sameSite: "Lax", secure: true, prefix: "host" } as const);

export const findCookie = (c: Context<AppEnv>, name: string): string | undefined => getCookie(c, name, cookieOptions(c).prefix);
