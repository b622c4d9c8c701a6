// When a delivery is tried, and how often (SPEC, Delivery rules). The times are exact, without jitter: a business plans its
// maintenance by them, and five slots an endpoint bound the bursts that jitter would spread.
import { dayMs, hourMs, minuteMs, secondMs, type Instant } from "../time.ts";

/** A receiver that has not answered by then has failed. */
export const attemptTimeoutMs = 10 * secondMs;
/** How long an attempt may be under way before it counts as lost with its process: what a resolver may take (2 s), the time-out, and a margin. */
export const attemptLeaseMs = 15 * secondMs;
export const maxDeliveryAttempts = 5;
/** Deliveries of one endpoint under way at once: one less than the six connections the platform gives an object. */
export const maxConcurrentDeliveries = 5;

/** Between the failure of attempt 1, 2, 3, 4 and the next one. */
const retryDelaysMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs] as const;

/** An attempt that died with our process is no failure of the receiver; but a delivery that kills us each time is given up on. */
export const maxForgivenInterruptions = 3;
/** What went wrong on our side before anything was sent is tried again this soon, this often; then it counts. */
export const deferralDelayMs = 5 * secondMs;
export const maxDeferrals = 20;

/** What failed and is asked for goes out again at most ten a second: a receiver that has just come back is not to be knocked over. */
export const recoverySpacingMs = 110;
/** How late one of them may be. With the spacing above no second holds more than ten: eleven take ten spacings, less this, a second. */
export const maxRecoveryLatenessMs = 100;
/** At one time: some seventeen minutes of it. */
export const maxRecoveredDeliveries = 10_000;

/** How long a delivery that has ended can be looked at and sent again. */
export const deliveryRetentionMs = { success: 30 * dayMs, abandoned: 90 * dayMs } as const;

/** When the next attempt is due after attempt number `attempt` failed at `at`; null when there is none. */
export const computeNextAttemptAt = (attempt: number, at: Instant): Instant | null => {
  const pause = retryDelaysMs[attempt - 1];
  return attempt >= maxDeliveryAttempts || pause === undefined ? null : at + pause;
};
