// The cookies of a sign-in that this browser has started. They contain the email address and an ID for the browser. Wrong codes are counted
// per browser, so strangers cannot lock the person out. An emailed link works only in the browser that requested it.
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { toBase64Url } from "../../core/bytes.ts";
import { openPendingSignIn, sealPendingSignIn, signInNoteSeconds, type PendingSignIn } from "../operations/access/sign-in-note.ts";
import type { AppEnv } from "./context.ts";
import { findCookie, cookieOptions } from "./cookies.ts";

/**
 * The API, the app, the consent sheet and the portal share `svc_sign_in`, so a sign-in can start on one of them and end on another. The
 * page that connects an agent uses `svc_connect`, so that the two sign-ins do not affect each other.
 */
export const pendingSignInCookies = ["svc_sign_in", "svc_connect"] as const;
export type PendingSignInCookie = (typeof pendingSignInCookies)[number];

const browserBytes = 32;

/** Returns the sign-in that this browser has started, or null if there is none or it has expired. */
export const findPendingSignIn = (c: Context<AppEnv>, cookie: PendingSignInCookie = "svc_sign_in"): Promise<PendingSignIn | null> =>
  openPendingSignIn(c.var.services, findCookie(c, cookie));

/** Returns the browser's ID from the pending sign-in, or a new ID. A browser keeps its ID when it requests another code. */
export const identifySignInBrowser = async (c: Context<AppEnv>, cookie?: PendingSignInCookie): Promise<string> =>
  (await findPendingSignIn(c, cookie))?.browser ?? toBase64Url(c.var.services.random(browserBytes));

export const savePendingSignIn = async (
  c: Context<AppEnv>,
  pending: PendingSignIn,
  cookie: PendingSignInCookie = "svc_sign_in",
): Promise<void> =>
  setCookie(c, cookie, await sealPendingSignIn(c.var.services, pending), { ...cookieOptions(c), maxAge: signInNoteSeconds });

export const clearPendingSignIn = (c: Context<AppEnv>, cookie: PendingSignInCookie = "svc_sign_in"): void => {
  if (findCookie(c, cookie) !== undefined) deleteCookie(c, cookie, cookieOptions(c));
};
