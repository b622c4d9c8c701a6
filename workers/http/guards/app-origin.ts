// Determines the app's origin, for cookies, CORS, CSRF checks and passkeys.
import type { RelyingParty } from "../../../core/access/passkey.ts";
import type { RequestContext } from "../context.ts";

/** Returns true in development over plain HTTP, where several host names can reach the same machine. */
export const isPlainHttp = (c: RequestContext): boolean =>
  c.var.services.config.environment === "development" && new URL(c.req.url).protocol === "http:";

/** Returns whether `origin` is the app's own origin. In development over HTTP, the request URL's origin counts too. */
export const isAppOrigin = (c: RequestContext, origin: string): boolean =>
  origin === new URL(c.var.services.config.appUrl).origin || (isPlainHttp(c) && origin === new URL(c.req.url).origin);

/**
 * Returns the WebAuthn relying party, which is the app. In development over HTTP, the relying party of requests to `localhost` is
 * `localhost`, because browsers accept a passkey only on the host where it was created.
 */
export const getRelyingParty = (c: RequestContext): RelyingParty => {
  const url = new URL(c.req.url);
  const { hostname: id, origin } = isPlainHttp(c) && url.hostname === "localhost" ? url : new URL(c.var.services.config.appUrl);
  return { id, origin };
};
