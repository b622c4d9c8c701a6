// Attributes for every cookie except the language cookie. Browsers send these cookies to every path of the host, and scripts cannot read
// them. Because of SameSite=Lax, browsers send them when a person follows a link from another site, but not when another site submits a
// form.
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { AppEnv, RequestContext } from "./context.ts";
import { isPlainHttp } from "./guards/app-origin.ts";

/** Browsers refuse `__Host-` cookies over plain HTTP, so development over HTTP omits the prefix. */
export const cookieOptions = (c: RequestContext) =>
  isPlainHttp(c)
    ? ({ path: "/", httpOnly: true, sameSite: "Lax" } as const)
    : ({ path: "/", httpOnly: true, sameSite: "Lax", secure: true, prefix: "host" } as const);

export const findCookie = (c: Context<AppEnv>, name: string): string | undefined => getCookie(c, name, cookieOptions(c).prefix);
