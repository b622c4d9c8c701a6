// Limits the attempts to a webhook host until the host has returned a 2xx status for the business once. A business can enter any URL,
// including a third party's. Until then, there is no sign that the host wants these requests.
import type { RateLimit } from "../access/rate-limit.ts";
import { hourMs, minuteMs, type Instant } from "../time.ts";

/**
 * The limits for one host. `business` applies to each business for which the host has not returned a 2xx status, and `host` to all such
 * businesses together.
 */
export interface HostLimits {
  readonly business: RateLimit;
  readonly host: RateLimit;
}

export interface HostAttempt {
  readonly businessId: string;
  readonly now: Instant;
  readonly limits: HostLimits;
  /** True if a signed-in member is waiting for the result. Such requests skip the pause after many failed attempts. */
  readonly isMemberCall: boolean;
}

/**
 * The response to a delivery queue that asks whether it may send one attempt. `proven`: the host has returned a 2xx status for this
 * business before, so no limit applies. `counted`: one attempt may be sent. It counts toward the limits even if the caller does not send
 * it. `wait`: no attempt may be sent yet, and the caller should ask again after `waitMs`.
 */
export type HostPermit = { readonly kind: "proven" } | { readonly kind: "counted" } | { readonly kind: "wait"; readonly waitMs: number };

/** Returns the host whose attempts are counted. Ports are not distinguished, because they usually lead to the same machine. */
export const getEndpointHost = (url: string): string => new URL(url).hostname;

/**
 * The maximum time until a delivery queue asks for a permit again. Within this time, a queue therefore notices that the host has returned a
 * 2xx status for a test or for another endpoint of the business.
 */
export const maxHostWaitMs = minuteMs;

// At the default limit, these attempts take five minutes. That is enough to notice a mistake while setting up a receiver.
const attemptsBeforePause = 50;
const attemptsPerDoubling = 10;

/**
 * Returns the minimum time, in milliseconds, between two attempts of a business. `attempts` is the number of attempts so far without a 2xx
 * response from the host. The first 50 attempts have no minimum time. Then the time is one minute, and it doubles with every ten attempts,
 * up to one hour. A host that never accepts a request therefore soon gets very few requests.
 */
export const computeHostPauseMs = (attempts: number): number => {
  if (attempts < attemptsBeforePause) return 0;
  return Math.min(hourMs, minuteMs * 2 ** Math.floor((attempts - attemptsBeforePause) / attemptsPerDoubling));
};
