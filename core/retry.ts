// How long to wait before something that failed is tried again.
import { secondMs } from "./time.ts";

const longestWaitMs = 900 * secondMs;

/** Before the next try: 2, 4, 8 … 512, 900 s, give or take a quarter (`spread` is 0 to 1). */
export const retryDelayMs = (attempts: number, spread: number): number =>
  Math.round(Math.min(longestWaitMs, 2 ** Math.min(attempts + 1, 10) * secondMs) * (0.75 + 0.5 * spread));
