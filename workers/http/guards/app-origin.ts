// Determines the origin the app runs on, for cookies, CORS, CSRF checks and passkeys.
import type { RelyingParty } from "../../../core/access/passkey.ts";
import type { RequestContext } from "../context.ts";

/** Whether this is development over plain http, where one machine has several host names. */
export const isPlainHttp = (c: RequestContext): boolean =>
  c.var.services.config.environment === "development" && new URL(c.req.url).protocol === "http:";

/** Whether `origin` is the app's own origin; in development over http also the requested origin. */
export const isAppOrigin = (c: RequestContext, origin: string): boolean =>
  origin === new URL(c.var.services.config.appUrl).origin || (isPlainHttp(c) && origin === new URL(c.req.url).origin);

/** The WebAuthn relying party: the app. In development, `localhost` when that was requested, because a passkey belongs to one host. */
export const getRelyingParty = (c: RequestContext): RelyingParty => {
  const url = new URL(c.req.url);
  const { hostname: id, origin } = isPlainHttp(c) && url.hostname === "localhost" ? url : new URL(c.var.services.config.appUrl);
  return { id, origin };
};
