// Rate limits as guards and as helpers for handlers, with the RateLimit response headers (SPEC Limits).
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import type { RateLimitState } from "../../../core/access/rate-limit.ts";
import { defaultLimits, type LimitName } from "../../limits.ts";
import type { RequestContext, AppEnv, RequestCaller } from "../context.ts";
import { failure, type FailureResponse } from "../envelope.ts";
import { rateHeaders } from "../wire.ts";
import { defineGuard } from "./define-guard.ts";

const computeResetSeconds = ({ resetMs }: RateLimitState): string => String(Math.max(1, Math.ceil(resetMs / 1_000)));

const setRateHeaders = (c: RequestContext, name: LimitName, state: RateLimitState): void => {
  c.header("RateLimit-Limit", String(c.var.services.config.limits[name].count));
  c.header("RateLimit-Remaining", String(state.remaining));
  c.header("RateLimit-Reset", computeResetSeconds(state));
};

/** Sets the RateLimit headers. Returns the 429 response if the limit is exceeded, otherwise null. */
export const applyRateLimit = (c: RequestContext, name: LimitName, state: RateLimitState): FailureResponse | null => {
  setRateHeaders(c, name, state);
  if (state.isAllowed) return null;
  c.header("Retry-After", computeResetSeconds(state));
  return failure(c, "rate_limited");
};

/** Applies a second limit. If it is not exceeded, the RateLimit headers still describe the first limit. */
export const applySecondaryRateLimit = (c: RequestContext, name: LimitName, state: RateLimitState): FailureResponse | null =>
  state.isAllowed ? null : applyRateLimit(c, name, state);

/**
 * Counts the request by IP address (IPv6 by /64 prefix), approximately. Returns the 429 response if the limit is exceeded, otherwise null.
 */
export const enforceLimitByAddress = async (c: RequestContext, name: LimitName): Promise<FailureResponse | null> =>
  applyRateLimit(c, name, await c.var.services.takeApproximately(name, getIpRateLimitKey(c.var.ip)));

/** Counts the request by `key`, across all isolates and locations. Returns the 429 response if the limit is exceeded, otherwise null. */
export const enforceLimit = async (c: RequestContext, name: LimitName, key: string): Promise<FailureResponse | null> =>
  applyRateLimit(c, name, await c.var.services.takeExactly(name, key));

const periodNames: Readonly<Record<number, string>> = { 60: "per minute", 3600: "per hour" };

export const limitByAddress = (name: LimitName) => {
  const { count, seconds } = defaultLimits[name];
  const rateLimited = `More than ${count} requests ${periodNames[seconds] ?? `in ${seconds} seconds`} from one IP address (IPv6: one /64 network).`;
  return defineGuard<AppEnv>({ when: { rate_limited: rateLimited }, responseHeaders: rateHeaders }, async (c, next) => {
    const state = await c.var.services.takeApproximately(name, getIpRateLimitKey(c.var.ip));
    const limited = applyRateLimit(c, name, state);
    if (limited !== null) return limited;
    await next();
    // A response that the handler did not create, such as one from a log's Durable Object, does not contain the headers yet.
    if (!c.res.headers.has("RateLimit-Limit")) setRateHeaders(c, name, state);
    return undefined;
  });
};

/** Counts requests by the caller's business or, for a consumer, by person. Must run after a guard that sets `caller`. */
export const limitByAccount = (name: LimitName, rateLimited: string) =>
  defineGuard<AppEnv>({ when: { rate_limited: rateLimited } }, async (c, next) => {
    const { businessId, id } = c.var.caller as RequestCaller;
    return (await enforceLimit(c, name, businessId ?? id)) ?? next();
  });

/** For public routes that return no personal or business records: health, keys, documents and logs. */
export const limitPublicReads = limitByAddress("PUBLIC_READ_PER_IP");
