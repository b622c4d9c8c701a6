// How attempts to a webhook host are paced until the host has answered the business with 2xx once. Until then, nothing shows that the host
// wants these requests: a business can enter any address, also one of a third party.
import type { RateLimit } from "../access/rate-limit.ts";
import { hourMs, minuteMs, type Instant } from "../time.ts";

/** The limits for one host: for each unproven business, and for all of them together. */
export interface HostLimits {
  readonly business: RateLimit;
  readonly host: RateLimit;
}

export interface HostAttempt {
  readonly businessId: string;
  readonly now: Instant;
  readonly limits: HostLimits;
  /** True for a request that a member is waiting for. The pause after many failed attempts does not apply to it. */
  readonly isMemberCall: boolean;
}

/**
 * `proven`: the host has answered this business with 2xx before, so no limit applies. `counted`: one attempt may be sent; it counts whether
 * or not it is sent. `wait`: no attempt may be sent yet; ask again after `waitMs`.
 */
export type HostPermit = { readonly kind: "proven" } | { readonly kind: "counted" } | { readonly kind: "wait"; readonly waitMs: number };

/** The host by which attempts are counted. Ports are not distinguished, because they usually lead to the same machine. */
export const getEndpointHost = (url: string): string => new URL(url).hostname;

/** The longest wait before a queue asks again, so that it notices within a minute when another endpoint or a test has proven the host. */
export const maxHostWaitMs = minuteMs;

const attemptsBeforePause = 50; // five minutes at the default limit, enough to notice a mistake while setting up a receiver
const attemptsPerDoubling = 10;

/**
 * Returns the minimum time between two attempts of a business after `attempts` attempts that the host has not answered with 2xx. It doubles
 * from one minute to one hour, so that a host that never accepts anything is soon left alone.
 */
export const computeHostPauseMs = (attempts: number): number => {
  if (attempts < attemptsBeforePause) return 0;
  return Math.min(hourMs, minuteMs * 2 ** Math.floor((attempts - attemptsBeforePause) / attemptsPerDoubling));
};
