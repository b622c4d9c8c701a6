// Attributes for every cookie except the language cookie. Browsers send these cookies to every path of the host, and scripts cannot read
// them. Because they are SameSite=Lax, a link on another site sends them, but a form on another site does not.
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
