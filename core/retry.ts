// How long to wait before something that failed is tried again: one rule, with the numbers of whoever waits.

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** After so many failures in a row, counted from 1: twice as long each time, up to the longest. */
export const computeRetryDelayMs = ({ firstMs, maxMs }: Backoff, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));

/** Give or take a quarter, so that what failed together does not come back together. `random` is 0 to 1. */
export const addJitter = (delayMs: number, random: number): number => Math.round(delayMs * (0.75 + 0.5 * random));
