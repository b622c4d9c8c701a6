// Computes the delay before a failed operation is retried.

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Returns the delay. `failures` is the number of consecutive failures, starting at 1. The delay doubles each time, up to the maximum. */
export const computeRetryDelayMs = ({ firstMs, maxMs }: Backoff, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));

/**
 * Varies the delay by up to a quarter, so that calls that failed at the same time are not all retried at the same time. `random` is a
 * number from 0 to 1.
 */
export const addJitter = (delayMs: number, random: number): number => Math.round(delayMs * (0.75 + 0.5 * random));
