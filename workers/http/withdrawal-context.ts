// The browser that asks for a code, by a cookie of its own: tries from it are counted apart from everybody else's, so that a
// stranger's wrong guesses never keep the person out.
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import { toBase64Url } from "../../core/bytes.ts";
import type { AppEnv } from "./context.ts";
import { findCookie, cookieOptions } from "./cookies.ts";

const withdrawalCookieName = "svc_withdrawal";
const contextBytes = 32;
const contextPattern = /^[A-Za-z0-9_-]{43}$/;
const cookieMaxAgeSeconds = 86_400; // a day of codes from one browser is one context

/** The context this browser has; null when it never asked for a code. */
export const findWithdrawalContext = (c: Context<AppEnv>): string | null => {
  const value = findCookie(c, withdrawalCookieName);
  return value !== undefined && contextPattern.test(value) ? value : null;
};

/** Keeps the context, or makes one; the cookie is set either way, so that an answer never tells whether there was one. */
export const ensureWithdrawalContext = (c: Context<AppEnv>): string => {
  const context = findWithdrawalContext(c) ?? toBase64Url(c.var.services.random(contextBytes));
  setCookie(c, withdrawalCookieName, context, { ...cookieOptions(c), maxAge: cookieMaxAgeSeconds });
  return context;
};
