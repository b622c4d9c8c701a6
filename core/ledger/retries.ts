// The retry schedule for statements and attestations, and the circuit breaker for a failing ledger.
import { computeRetryDelayMs, addJitter, type Backoff } from "../retry.ts";
import { hourMs, secondMs, type Instant } from "../time.ts";
import type { SubmissionOutcome } from "./adapter.ts";

/** Before jitter, the delays are 2, 4, 8 … 512 and then 900 s. */
const submissionBackoff: Backoff = { firstMs: 2 * secondMs, maxMs: 900 * secondMs };
const parkedRetryMs = 6 * hourMs; // a permanent refusal can be caused by a configuration error that is fixed within the day

export interface AttemptHistory {
  /** The number of earlier attempts. */
  readonly attempts: number;
  /** The error code of the previous attempt; null if there was none. */
  readonly lastError: string | null;
}

const isUnprovenCode = (code: string): boolean => code.startsWith("receipt_");
const maxUnprovenAttempts = 3;

/**
 * Returns whether to park the statement, that is, to retry it hours later because the failure will probably not resolve on its own. This is
 * the case after a permanent refusal. It is also the case from the third attempt on, if neither this response nor the previous one
 * contained a valid proof.
 */
export const shouldPark = ({ attempts, lastError }: AttemptHistory, outcome: SubmissionOutcome): boolean => {
  if (outcome.ok || outcome.kind === "fork") return false;
  if (outcome.kind === "permanent") return true;
  return isUnprovenCode(outcome.code) && isUnprovenCode(lastError ?? "") && attempts + 1 >= maxUnprovenAttempts;
};

/**
 * Returns when to try again after a failed attempt. `attempts` is the number of earlier attempts. `minDelayMs` is the delay that the ledger
 * or attestor requested. It is limited to six hours. `random` is a number from 0 to 1.
 */
export const computeRetryAt = (attempts: number, minDelayMs: number, now: Instant, random: number): Instant =>
  now + Math.max(Math.min(minDelayMs, parkedRetryMs), addJitter(computeRetryDelayMs(submissionBackoff, attempts + 1), random));

export interface ScheduledRetry {
  readonly isParked: boolean;
  readonly at: Instant;
  readonly error: string;
}

/** Schedules the next attempt for a statement that was not anchored. */
export const scheduleRetry = (
  history: AttemptHistory,
  outcome: Exclude<SubmissionOutcome, { ok: true }>,
  now: Instant,
  random: number,
): ScheduledRetry => {
  if (outcome.kind === "fork") return { isParked: false, at: now, error: "fork" };
  if (shouldPark(history, outcome)) return { isParked: true, at: now + parkedRetryMs, error: outcome.code };
  const minDelayMs = outcome.kind === "retry" ? (outcome.retryAfterMs ?? 0) : 0;
  return { isParked: false, at: computeRetryAt(history.attempts, minDelayMs, now, random), error: outcome.code };
};

const breakerThreshold = 5;
/** Before jitter, requests are blocked for 64 s after the fifth failure, and then for 128, 256, 512 and 900 s. */
const breakerBackoff: Backoff = { firstMs: 4 * secondMs, maxMs: 900 * secondMs };

/** Returns when requests to a ledger with this many consecutive failures are allowed again, or 0 below the threshold of five failures. */
export const getBlockedUntil = (failures: number, now: Instant, random: number): Instant =>
  failures < breakerThreshold ? 0 : now + addJitter(computeRetryDelayMs(breakerBackoff, failures), random);
