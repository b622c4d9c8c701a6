// Determines the origin on which the app runs, for cookies, CORS, CSRF checks and passkeys.
import type { RelyingParty } from "../../../core/access/passkey.ts";
import type { RequestContext } from "../context.ts";

/** Returns whether this is development over plain HTTP. The machine can then be reached by several host names. */
export const isPlainHttp = (c: RequestContext): boolean =>
  c.var.services.config.environment === "development" && new URL(c.req.url).protocol === "http:";

/** Returns whether `origin` is the app's own origin. In development over HTTP, the request URL's origin counts too. */
export const isAppOrigin = (c: RequestContext, origin: string): boolean =>
  origin === new URL(c.var.services.config.appUrl).origin || (isPlainHttp(c) && origin === new URL(c.req.url).origin);

/**
 * Returns the WebAuthn relying party, which is the app. In development over HTTP, it is `localhost` for requests to `localhost`, because
 * browsers accept a passkey only on the host for which it was created.
 */
export const getRelyingParty = (c: RequestContext): RelyingParty => {
  const url = new URL(c.req.url);
  const { hostname: id, origin } = isPlainHttp(c) && url.hostname === "localhost" ? url : new URL(c.var.services.config.appUrl);
  return { id, origin };
};
