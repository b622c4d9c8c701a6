// When a statement that a ledger did not take is sent again, and when a ledger is left alone.
import { computeRetryDelayMs, addJitter, type Backoff } from "../retry.ts";
import { hourMs, secondMs, type Instant } from "../time.ts";
import type { SubmissionOutcome } from "./adapter.ts";

/** Between tries of a statement, and of an attestation: 2, 4, 8 … 512, 900 s. */
const submissionBackoff: Backoff = { firstMs: 2 * secondMs, maxMs: 900 * secondMs };
const parkedRetryMs = 6 * hourMs; // what a ledger refuses for good may be our mistake of the day: asked again four times a day

export interface AttemptHistory {
  /** Before this one. */
  readonly attempts: number;
  /** Code of what the try before came to; null before the first. */
  readonly lastError: string | null;
}

const isUnprovenCode = (code: string): boolean => code.startsWith("receipt_");
const maxUnprovenAttempts = 3;

/** Refused for good, or answered for the third time with what does not prove it: not a matter of a moment, so asked again much later. */
export const shouldPark = ({ attempts, lastError }: AttemptHistory, outcome: SubmissionOutcome): boolean => {
  if (outcome.ok || outcome.kind === "fork") return false;
  if (outcome.kind === "permanent") return true;
  return isUnprovenCode(outcome.code) && isUnprovenCode(lastError ?? "") && attempts + 1 >= maxUnprovenAttempts;
};

/** When to try again after `attempts` tries before this one, not sooner than was asked for. */
export const computeRetryAt = (attempts: number, askedForMs: number, now: Instant, random: number): Instant =>
  now + Math.max(askedForMs, addJitter(computeRetryDelayMs(submissionBackoff, attempts + 1), random));

export interface ScheduledRetry {
  readonly isParked: boolean;
  readonly at: Instant;
  readonly error: string;
}

/** What becomes of a statement that was not anchored. */
export const scheduleRetry = (
  tried: AttemptHistory,
  outcome: Exclude<SubmissionOutcome, { ok: true }>,
  now: Instant,
  random: number,
): ScheduledRetry => {
  if (outcome.kind === "fork") return { isParked: false, at: now, error: "fork" };
  if (shouldPark(tried, outcome)) return { isParked: true, at: now + parkedRetryMs, error: outcome.code };
  const askedForMs = outcome.kind === "retry" ? (outcome.retryAfterMs ?? 0) : 0;
  return { isParked: false, at: computeRetryAt(tried.attempts, askedForMs, now, random), error: outcome.code };
};

const breakerThreshold = 5;
/** 64 s after the fifth failure, then 128, 256, 512 and 900. */
const breakerBackoff: Backoff = { firstMs: 4 * secondMs, maxMs: 900 * secondMs };

/** Until when a ledger that failed so many times in a row is asked nothing; 0 while it still is. */
export const getBlockedUntil = (failures: number, now: Instant, random: number): Instant =>
  failures < breakerThreshold ? 0 : now + addJitter(computeRetryDelayMs(breakerBackoff, failures), random);
