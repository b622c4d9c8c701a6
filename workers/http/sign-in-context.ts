// The cookie that identifies a browser that has requested a sign-in code. Attempts are counted per browser, so a stranger's wrong guesses
// never lock the person out.
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import { toBase64Url } from "../../core/bytes.ts";
import type { AppEnv } from "./context.ts";
import { findCookie, cookieOptions } from "./cookies.ts";

const signInCookieName = "svc_sign_in_browser";
const contextBytes = 32;
const contextPattern = /^[A-Za-z0-9_-]{43}$/;
const cookieMaxAgeSeconds = 3_600; // longer than a code is valid

/** Returns the context ID in the cookie, or null if this browser has not requested a code. */
export const findSignInContext = (c: Context<AppEnv>): string | null => {
  const value = findCookie(c, signInCookieName);
  return value !== undefined && contextPattern.test(value) ? value : null;
};

/** Returns the existing context ID or a new one. The cookie is set either way, so the response does not reveal whether one existed. */
export const ensureSignInContext = (c: Context<AppEnv>): string => {
  const context = findSignInContext(c) ?? toBase64Url(c.var.services.random(contextBytes));
  setCookie(c, signInCookieName, context, { ...cookieOptions(c), maxAge: cookieMaxAgeSeconds });
  return context;
};
