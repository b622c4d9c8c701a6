// When a statement that a ledger did not take is sent again, and when a ledger is left alone.
import { retryDelayMs, spreadMs, type Backoff } from "../retry.ts";
import { hourMs, secondMs, type Instant } from "../time.ts";
import type { Outcome } from "./adapter.ts";

/** Between tries of a statement, and of an attestation: 2, 4, 8 … 512, 900 s. */
const backoff: Backoff = { firstMs: 2 * secondMs, maxMs: 900 * secondMs };
const parkedWaitMs = 6 * hourMs; // what a ledger refuses for good may be our mistake of the day: asked again four times a day

export interface Tried {
  /** Before this one. */
  readonly attempts: number;
  /** Code of what the try before came to; null before the first. */
  readonly lastError: string | null;
}

const isUnproven = (code: string): boolean => code.startsWith("receipt_");
const unprovenUntilParked = 3;

/** Refused for good, or answered for the third time with what does not prove it: not a matter of a moment, so asked again much later. */
export const isToPark = ({ attempts, lastError }: Tried, outcome: Outcome): boolean => {
  if (outcome.ok || outcome.kind === "fork") return false;
  if (outcome.kind === "permanent") return true;
  return isUnproven(outcome.code) && isUnproven(lastError ?? "") && attempts + 1 >= unprovenUntilParked;
};

/** When to try again after `attempts` tries before this one, not sooner than was asked for. */
export const nextTryAt = (attempts: number, askedForMs: number, now: Instant, random: number): Instant =>
  now + Math.max(askedForMs, spreadMs(retryDelayMs(backoff, attempts + 1), random));

export interface NextTry {
  readonly isParked: boolean;
  readonly at: Instant;
  readonly error: string;
}

/** What becomes of a statement that was not anchored. */
export const nextTryOf = (tried: Tried, outcome: Exclude<Outcome, { ok: true }>, now: Instant, random: number): NextTry => {
  if (outcome.kind === "fork") return { isParked: false, at: now, error: "fork" };
  if (isToPark(tried, outcome)) return { isParked: true, at: now + parkedWaitMs, error: outcome.code };
  const askedForMs = outcome.kind === "retry" ? (outcome.afterMs ?? 0) : 0;
  return { isParked: false, at: nextTryAt(tried.attempts, askedForMs, now, random), error: outcome.code };
};

const failuresUntilOpen = 5;
/** 64 s after the fifth failure, then 128, 256, 512 and 900. */
const breakerBackoff: Backoff = { firstMs: 4 * secondMs, maxMs: 900 * secondMs };

/** Until when a ledger that failed so many times in a row is asked nothing; 0 while it still is. */
export const blockedUntil = (failures: number, now: Instant, random: number): Instant =>
  failures < failuresUntilOpen ? 0 : now + spreadMs(retryDelayMs(breakerBackoff, failures), random);
