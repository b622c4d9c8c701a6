// The retry schedule for capturing a domain's policies. Attempts stop after about 21 minutes, because text that is fetched hours after
// issuance may be a different version. The capture is then recorded with the policies that were found, if any.
import { computeRetryDelayMs } from "../retry.ts";
import { minuteMs, secondMs, type Instant } from "../time.ts";

/** The seven delays between eight attempts are 10, 20, 40 … 640 s. They add up to about 21 minutes. */
export const maxCaptureAttempts = 8;
const captureBackoff = { firstMs: 10 * secondMs, maxMs: 15 * minuteMs };

/** Returns when to try again after a failed attempt. Attempts are numbered from 1. */
export const computeNextCaptureAt = (attempt: number, now: Instant): Instant => now + computeRetryDelayMs(captureBackoff, attempt);
