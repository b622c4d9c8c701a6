// How long certificates wait for a domain that does not answer. A policy is worth having as of issuance: a text fetched
// hours later may be another one, so after about twenty minutes the capture is recorded as one that found nothing.
import { computeRetryDelayMs } from "../retry.ts";
import { minuteMs, secondMs, type Instant } from "../time.ts";

/** 10 + 20 + 40 + ... + 640 s between eight attempts: 21 minutes. */
export const maxCaptureAttempts = 8;
const captureBackoff = { firstMs: 10 * secondMs, maxMs: 15 * minuteMs };

/** When to try again after the `attempt`th capture (counted from 1) came back without an answer. */
export const computeNextCaptureAt = (attempt: number, now: Instant): Instant => now + computeRetryDelayMs(captureBackoff, attempt);
