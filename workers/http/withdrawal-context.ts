// The browser that asks for a code, by a cookie of its own: tries from it are counted apart from everybody else's, so that a
// stranger's wrong guesses never keep the person out.
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import { base64UrlOf } from "../../core/bytes.ts";
import type { Api } from "./context.ts";
import { cookieOf, cookieOptions } from "./cookies.ts";

const cookie = "svc_withdrawal";
const contextBytes = 32;
const contextShape = /^[A-Za-z0-9_-]{43}$/;
const keptSeconds = 86_400; // a day of codes from one browser is one context

/** The context this browser has; null when it never asked for a code. */
export const withdrawalContext = (c: Context<Api>): string | null => {
  const value = cookieOf(c, cookie);
  return value !== undefined && contextShape.test(value) ? value : null;
};

/** Keeps the context, or makes one; the cookie is set either way, so that an answer never tells whether there was one. */
export const openWithdrawalContext = (c: Context<Api>): string => {
  const context = withdrawalContext(c) ?? base64UrlOf(c.var.services.random(contextBytes));
  setCookie(c, cookie, context, { ...cookieOptions(c), maxAge: keptSeconds });
  return context;
};
