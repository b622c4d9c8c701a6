import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import type { RateLimitState } from "../../../core/access/rate-limit.ts";
import { defaultLimits, type LimitName } from "../../limits.ts";
import type { RequestContext, AppEnv, RequestCaller } from "../context.ts";
import { failure, type FailureResponse } from "../envelope.ts";
import { rateHeaders } from "../wire.ts";
import { defineGuard } from "./define-guard.ts";

/** Sets the rate headers of a counted route; the answer is 429 when the window was full. */
export const applyRateLimit = (c: RequestContext, name: LimitName, state: RateLimitState): FailureResponse | null => {
  const limit = c.var.services.config.limits[name];
  const seconds = String(Math.max(1, Math.ceil(state.resetMs / 1_000)));
  c.header("RateLimit-Limit", String(limit.count));
  c.header("RateLimit-Remaining", String(state.remaining));
  c.header("RateLimit-Reset", seconds);
  if (state.isAllowed) return null;
  c.header("Retry-After", seconds);
  return failure(c, "rate_limited");
};

/** The same of a second limit: the headers of an answer tell of the first, and of this one only where it refuses. */
export const applySecondaryRateLimit = (c: RequestContext, name: LimitName, state: RateLimitState): FailureResponse | null =>
  state.isAllowed ? null : applyRateLimit(c, name, state);

/** Counts by the caller's address (IPv6 by its /64). */
export const countByAddress = async (c: RequestContext, name: LimitName): Promise<FailureResponse | null> =>
  applyRateLimit(c, name, await c.var.services.takeByAddress(name, getIpRateLimitKey(c.var.ip)));

export const countExactly = async (c: RequestContext, name: LimitName, key: string): Promise<FailureResponse | null> =>
  applyRateLimit(c, name, await c.var.services.takeExactly(name, key));

const periodNames: Readonly<Record<number, string>> = { 60: "a minute", 3600: "an hour" };

export const limitByAddress = (name: LimitName) => {
  const { count, seconds } = defaultLimits[name];
  const crowded = `More than ${count} ${periodNames[seconds] ?? `in ${seconds} seconds`} from one address of the network.`;
  return defineGuard<AppEnv>(
    { when: { rate_limited: crowded }, responseHeaders: rateHeaders },
    async (c, next) => (await countByAddress(c, name)) ?? next(),
  );
};

/** Counts by whose account it is, behind the guard that found out: the caller's business, or the person. */
export const limitByAccount = (name: LimitName, crowded: string) =>
  defineGuard<AppEnv>({ when: { rate_limited: crowded } }, async (c, next) => {
    const { businessId, id } = c.var.caller as RequestCaller;
    return (await countExactly(c, name, businessId ?? id)) ?? next();
  });

/** Of what anyone may read and nobody's record is. */
export const limitPublicReads = limitByAddress("PUBLIC_READ_PER_IP");
