// The delivery schedule (SPEC Webhook delivery). Retry times are exact, without jitter, so that businesses can plan maintenance around
// them. The limit of five concurrent deliveries per endpoint prevents bursts instead.
import { dayMs, hourMs, minuteMs, secondMs, type Instant } from "../time.ts";

export const attemptTimeoutMs = 10 * secondMs;
/** After this time, an attempt without a result counts as interrupted. It allows for the host check (3 s), the timeout and a margin. */
export const attemptLeaseMs = 15 * secondMs;
export const maxDeliveryAttempts = 5;
/**
 * The maximum number of concurrent deliveries per endpoint: one less than the six connections that the platform allows a Durable Object.
 */
export const maxConcurrentDeliveries = 5;

/** The delays after attempts 1 to 4. */
const retryDelaysMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs] as const;

/**
 * An attempt during which our process dies does not count as a failure. At most this many attempts per delivery are exempt, so that a
 * delivery that keeps crashing the process is eventually abandoned.
 */
export const maxForgivenInterruptions = 3;
/**
 * If a problem in our service prevents an attempt, the delivery is tried again after this delay. After `maxDeferrals` such delays, the next
 * problem counts as a failed attempt.
 */
export const deferralDelayMs = 5 * secondMs;
export const maxDeferrals = 20;

/**
 * The time between two recovered deliveries. At most ten per second are sent, so that a receiver that has just recovered is not overloaded.
 */
export const recoverySpacingMs = 110;
/**
 * How late a recovered delivery can be sent. Eleven deliveries take at least 10 × 110 ms − 100 ms = 1 s, so no second contains more than
 * ten.
 */
export const maxRecoveryLatenessMs = 100;
/** The maximum number of deliveries per recovery. Sending them takes about 18 minutes. */
export const maxRecoveredDeliveries = 10_000;

/** How long a finished delivery can be viewed and replayed. */
export const deliveryRetentionMs = { success: 30 * dayMs, abandoned: 90 * dayMs } as const;

/** Returns when to try again after attempt number `attempt` failed at `at`, or null if that was the last attempt. */
export const computeNextAttemptAt = (attempt: number, at: Instant): Instant | null => {
  const delayMs = retryDelaysMs[attempt - 1];
  return attempt >= maxDeliveryAttempts || delayMs === undefined ? null : at + delayMs;
};
