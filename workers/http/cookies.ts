// How every cookie is set but the one that holds a language: for the whole host, never read by a script, and sent along by a link
// from elsewhere but by no form.
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { AppEnv, RequestContext } from "./context.ts";
import { isPlainHttp } from "./guards/app-origin.ts";

/** No browser keeps a `__Host-` cookie over plain http. */
export const cookieOptions = (c: RequestContext) =>
  isPlainHttp(c)
    ? ({ path: "/", httpOnly: true, sameSite: "Lax" } as const)
    : ({ path: "/", httpOnly: true, sameSite: "Lax", secure: true, prefix: "host" } as const);

export const findCookie = (c: Context<AppEnv>, name: string): string | undefined => getCookie(c, name, cookieOptions(c).prefix);
