// Cookies of the app: for the whole host, never read by a script; and the one that holds a chosen language.
import { getCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import type { Api } from "../../http/context.ts";
import { isPlainHttp } from "../../http/guards.ts";
import { chosenLanguage } from "../language.ts";
import { languageCookie } from "../layout.tsx";

const languageSeconds = 365 * 86_400;

export const cookieOptions = (c: Context<Api>) =>
  isPlainHttp(c)
    ? ({ path: "/", httpOnly: true, sameSite: "Lax" } as const)
    : ({ path: "/", httpOnly: true, sameSite: "Lax", secure: true, prefix: "host" } as const);

export const cookieOf = (c: Context<Api>, name: string): string | undefined => getCookie(c, name, cookieOptions(c).prefix);

/** Keeps a language that was chosen in the address. */
export const keepLanguage = (c: Context<Api>): void => {
  const chosen = chosenLanguage(c.req.query("lang"));
  if (chosen !== null)
    setCookie(c, languageCookie, chosen, { path: "/", sameSite: "Lax", secure: !isPlainHttp(c), maxAge: languageSeconds });
};
