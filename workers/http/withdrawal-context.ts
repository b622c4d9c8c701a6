// The browser that asks for a code, by a cookie of its own: tries from it are counted apart from everybody else's, so that a
// stranger's wrong guesses never keep the person out.
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { base64UrlOf } from "../../core/bytes.ts";
import type { Api } from "./context.ts";

const contextBytes = 32;
const contextShape = /^[A-Za-z0-9_-]{43}$/;
const keptSeconds = 86_400; // a day of codes from one browser is one context

/** Browsers take a `__Host-` cookie only over https; in development there is none. */
export const isSecure = (c: Context<Api>): boolean => c.var.services.config.environment === "production";

const cookieName = (c: Context<Api>): string => (isSecure(c) ? "__Host-svc_withdrawal" : "svc_withdrawal");

/** The context this browser has; null when it never asked for a code. */
export const withdrawalContext = (c: Context<Api>): string | null => {
  const value = getCookie(c, cookieName(c));
  return value !== undefined && contextShape.test(value) ? value : null;
};

/** Keeps the context, or makes one; the cookie is set either way, so that an answer never tells whether there was one. */
export const openWithdrawalContext = (c: Context<Api>): string => {
  const context = withdrawalContext(c) ?? base64UrlOf(c.var.services.random(contextBytes));
  setCookie(c, cookieName(c), context, { httpOnly: true, sameSite: "Lax", secure: isSecure(c), path: "/", maxAge: keptSeconds });
  return context;
};
