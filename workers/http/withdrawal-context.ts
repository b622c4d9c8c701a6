// The cookie that identifies the browser that requested a withdrawal code. Wrong codes from that browser are counted separately from those
// of all others, so strangers cannot use up the person's attempts.
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import { toBase64Url } from "../../core/bytes.ts";
import type { AppEnv } from "./context.ts";
import { findCookie, cookieOptions } from "./cookies.ts";

const withdrawalCookieName = "svc_withdrawal";
const contextBytes = 32;
const contextPattern = /^[A-Za-z0-9_-]{43}$/;
const cookieMaxAgeSeconds = 86_400; // 24 hours

/** Returns the context ID in the cookie, or null if this browser has not requested a code. */
export const findWithdrawalContext = (c: Context<AppEnv>): string | null => {
  const value = findCookie(c, withdrawalCookieName);
  return value !== undefined && contextPattern.test(value) ? value : null;
};

/** Returns the existing context ID or a new one. Always sets the cookie, so that the response does not reveal whether an ID existed. */
export const ensureWithdrawalContext = (c: Context<AppEnv>): string => {
  const context = findWithdrawalContext(c) ?? toBase64Url(c.var.services.random(contextBytes));
  setCookie(c, withdrawalCookieName, context, { ...cookieOptions(c), maxAge: cookieMaxAgeSeconds });
  return context;
};
