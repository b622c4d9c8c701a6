// Attributes for every cookie except the language cookie. These cookies are sent to the whole host and cannot be read by scripts. They are
// SameSite=Lax, so links from other sites send them but forms do not.
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { AppEnv, RequestContext } from "./context.ts";
import { isPlainHttp } from "./guards/app-origin.ts";

/** Browsers refuse `__Host-` cookies over plain HTTP, so the prefix is omitted in development over HTTP. */
export const cookieOptions = (c: RequestContext) =>
  isPlainHttp(c)
    ? ({ path: "/", httpOnly: true, sameSite: "Lax" } as const)
    : ({ path: "/", httpOnly: true, sameSite: "Lax", secure: true, prefix: "host" } as const);

export const findCookie = (c: Context<AppEnv>, name: string): string | undefined => getCookie(c, name, cookieOptions(c).prefix);
