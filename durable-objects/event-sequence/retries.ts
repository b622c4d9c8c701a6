// Retry times for an event sequence's drains, pushes and archive moves.
import { computeRetryDelayMs } from "../../core/retry.ts";
import { minuteMs, secondMs, type Instant } from "../../core/time.ts";

export interface RetryState {
  /** The number of failures since the last success. */
  readonly failures: number;
  readonly at: Instant;
}

export const drainBackoff = { firstMs: 5 * secondMs, maxMs: minuteMs };

export const nextRetry = (earlier: RetryState | null | undefined, backoff: typeof drainBackoff): RetryState => {
  const failures = (earlier?.failures ?? 0) + 1;
  return { failures, at: Date.now() + computeRetryDelayMs(backoff, failures) };
};
