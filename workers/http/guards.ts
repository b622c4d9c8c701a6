// What stands before a handler: limits and credentials. Each guard is one middleware with one reason.
import type { Context } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { except } from "hono/combine";
import { HTTPException } from "hono/http-exception";
import { addressKey } from "../../core/access/address.ts";
import { mayRead } from "../../core/access/entitlement.ts";
import type { RelyingParty } from "../../core/access/passkey.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { WindowState } from "../../core/access/window.ts";
import { defaultLimits, type LimitName } from "../limits.ts";
import { authenticateKey, isKnownKey } from "../operations/access/api-key.ts";
import type { Api, KeyCaller, KnownCaller, RequestContext } from "./context.ts";
import { failure, refusal, type Failure } from "./envelope.ts";
import { guard, inTurn, type Guard } from "./guard.ts";
import { rateHeaders } from "./wire.ts";

/** Sets the rate headers of a counted route; the answer is 429 when the window was full. */
export const limited = (c: RequestContext, name: LimitName, state: WindowState): Failure | null => {
  const limit = c.var.services.config.limits[name];
  const seconds = String(Math.max(1, Math.ceil(state.resetMs / 1_000)));
  c.header("RateLimit-Limit", String(limit.count));
  c.header("RateLimit-Remaining", String(state.remaining));
  c.header("RateLimit-Reset", seconds);
  if (state.allowed) return null;
  c.header("Retry-After", seconds);
  return failure(c, "rate_limited");
};

/** The same of a second limit: the headers of an answer tell of the first, and of this one only where it refuses. */
export const overflowing = (c: RequestContext, name: LimitName, state: WindowState): Failure | null =>
  state.allowed ? null : limited(c, name, state);

/** Counts by the caller's address (IPv6 by its /64). */
export const countedByAddress = async (c: RequestContext, name: LimitName): Promise<Failure | null> =>
  limited(c, name, await c.var.services.takeByAddress(name, addressKey(c.var.ip)));

export const countedExactly = async (c: RequestContext, name: LimitName, key: string): Promise<Failure | null> =>
  limited(c, name, await c.var.services.takeExactly(name, key));

const periods: Readonly<Record<number, string>> = { 60: "a minute", 3600: "an hour" };

export const limitByAddress = (name: LimitName) => {
  const { count, seconds } = defaultLimits[name];
  const crowded = `More than ${count} ${periods[seconds] ?? `in ${seconds} seconds`} from one address of the network.`;
  return guard<Api>({ when: { rate_limited: crowded }, sets: rateHeaders }, async (c, next) => (await countedByAddress(c, name)) ?? next());
};

/** Counts by whose account it is, behind the guard that found out: the caller's business, or the person. */
export const limitByAccount = (name: LimitName, crowded: string) =>
  guard<Api>({ when: { rate_limited: crowded } }, async (c, next) => {
    const { businessId, id } = c.var.caller as KnownCaller;
    return (await countedExactly(c, name, businessId ?? id)) ?? next();
  });

/** Of what anyone may read and nobody's record is. */
export const publicRead = limitByAddress("PUBLIC_READ_PER_IP");

const unauthorized = { message: (c: Context<Api>) => failure(c, "unauthorized"), wwwAuthenticateHeader: "Bearer" };

/** `Authorization: Bearer sk_…`. A missing, malformed, unknown and revoked key get the same answer. */
const knownKey = guard<KeyCaller>(
  { refuses: ["unauthorized", "storage_unavailable"], security: [{ apiKey: [] }] },
  bearerAuth<KeyCaller>({
    verifyToken: async (token, c) => {
      const { services, ip } = c.var;
      if (!isKnownKey(services, token)) {
        const refused = overflowing(c, "UNKNOWN_KEYS_PER_IP", await services.takeByAddress("UNKNOWN_KEYS_PER_IP", addressKey(ip)));
        if (refused !== null) throw new HTTPException(429, { res: refused });
      }
      const found = await authenticateKey(services, token);
      if (!found.ok) return false;
      c.set("principal", found.value);
      c.set("caller", { kind: "api_key", id: found.value.keyId, businessId: found.value.business.id });
      return true;
    },
    noAuthenticationHeader: unauthorized,
    invalidAuthenticationHeader: unauthorized,
    invalidToken: unauthorized,
  }),
);

const countedKey = guard<KeyCaller>({ refuses: ["rate_limited"], sets: rateHeaders }, async (c, next) => {
  return (await countedExactly(c, "API_KEY", c.var.principal.keyHash)) ?? next();
});

const mayReadNow = guard<KeyCaller>({ refuses: ["business_suspended", "business_inactive"] }, async (c, next) => {
  const readable = mayRead(c.var.principal.business.status);
  return readable.ok ? next() : refusal(c, readable);
});

const storageNeeded = guard<Api>({ refuses: ["storage_unavailable"] }, (_c, next) => next());

/** What stands before a route that asks for no credential. What it answers is stored, and storage may be away. */
export const forAnyone = (...guards: readonly Guard[]) => inTurn<Api>(storageNeeded, ...guards);

/** Finds the key, counts it, and lets only businesses that may read pass; then whatever else stands before the handler. */
export const behindApiKey = (...more: readonly Guard[]) => inTurn<KeyCaller>(knownKey, countedKey, mayReadNow, ...more);

/** Of routes that a visitor's browser and the business's own server both call: a key that is sent must be right. */
export const optionalApiKey = guard<{ Variables: Api["Variables"] & { principal?: Principal } }>(
  { ...knownKey.terms, security: [{}, { apiKey: [] }] },
  except((c) => c.req.header("authorization") === undefined, knownKey),
);

/** Only development speaks plain http, where one machine has several names. */
export const isPlainHttp = (c: RequestContext): boolean =>
  c.var.services.config.environment === "development" && new URL(c.req.url).protocol === "http:";

/** The app's own origin; in development also the one that was asked. */
export const isAppOrigin = (c: RequestContext, origin: string): boolean =>
  origin === new URL(c.var.services.config.appUrl).origin || (isPlainHttp(c) && origin === new URL(c.req.url).origin);

/** To whom passkeys speak: the app; in development also `localhost` where that was asked, since a passkey is of one name. */
export const relyingParty = (c: RequestContext): RelyingParty => {
  const asked = new URL(c.req.url);
  const { hostname: id, origin } = isPlainHttp(c) && asked.hostname === "localhost" ? asked : new URL(c.var.services.config.appUrl);
  return { id, origin };
};
