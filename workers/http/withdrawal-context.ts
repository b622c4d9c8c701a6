// The browser that asks for a code, by a cookie of its own: tries from it are counted apart from everybody else's, so that a
// stranger's wrong guesses never keep the person out.
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import { base64UrlOf } from "../../core/bytes.ts";
import type { Api } from "./context.ts";
import { isPlainHttp } from "./guards.ts";

const cookie = "svc_withdrawal";
const contextBytes = 32;
const contextShape = /^[A-Za-z0-9_-]{43}$/;
const keptSeconds = 86_400; // a day of codes from one browser is one context

/** Of every cookie of withdrawing. No browser keeps a `__Host-` cookie over plain http. */
export const withdrawalCookie = (c: Context<Api>): CookieOptions => ({
  path: "/",
  httpOnly: true,
  sameSite: "Lax",
  ...(!isPlainHttp(c) && { secure: true, prefix: "host" }),
});

/** The context this browser has; null when it never asked for a code. */
export const withdrawalContext = (c: Context<Api>): string | null => {
  const value = getCookie(c, cookie, withdrawalCookie(c).prefix);
  return value !== undefined && contextShape.test(value) ? value : null;
};

/** Keeps the context, or makes one; the cookie is set either way, so that an answer never tells whether there was one. */
export const openWithdrawalContext = (c: Context<Api>): string => {
  const context = withdrawalContext(c) ?? base64UrlOf(c.var.services.random(contextBytes));
  setCookie(c, cookie, context, { ...withdrawalCookie(c), maxAge: keptSeconds });
  return context;
};
