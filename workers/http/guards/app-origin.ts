import type { RelyingParty } from "../../../core/access/passkey.ts";
import type { RequestContext } from "../context.ts";

/** Only development speaks plain http, where one machine has several names. */
export const isPlainHttp = (c: RequestContext): boolean =>
  c.var.services.config.environment === "development" && new URL(c.req.url).protocol === "http:";

/** The app's own origin; in development also the one that was asked. */
export const isAppOrigin = (c: RequestContext, origin: string): boolean =>
  origin === new URL(c.var.services.config.appUrl).origin || (isPlainHttp(c) && origin === new URL(c.req.url).origin);

/** To whom passkeys speak: the app; in development also `localhost` where that was asked, since a passkey is of one name. */
export const getRelyingParty = (c: RequestContext): RelyingParty => {
  const asked = new URL(c.req.url);
  const { hostname: id, origin } = isPlainHttp(c) && asked.hostname === "localhost" ? asked : new URL(c.var.services.config.appUrl);
  return { id, origin };
};
