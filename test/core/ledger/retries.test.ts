// Tests when a statement is retried, when it is parked for hours after a refusal, and when a failing ledger is blocked.
import { describe, expect, test } from "vitest";
import type { SubmissionOutcome } from "../../../core/ledger/adapter.ts";
import { getBlockedUntil, shouldPark, computeRetryAt, scheduleRetry } from "../../../core/ledger/retries.ts";

const middle = 0.5; // adds no random variation to the delay
const now = 1_900_000_000_000;
const fresh = { attempts: 0, lastError: null };
type Failed = Exclude<SubmissionOutcome, { ok: true }>;
const retry = (code: string, afterMs?: number): Failed => ({
  ok: false,
  kind: "retry",
  code,
  ...(afterMs !== undefined && { retryAfterMs: afterMs }),
});
const permanent: Failed = { ok: false, kind: "permanent", code: "refused" };

describe("a statement that was not anchored", () => {
  test("is retried after 2, 4, 8 … 512 and then 900 seconds", () => {
    const delays = Array.from({ length: 12 }, (_, attempts) => (computeRetryAt(attempts, 0, now, middle) - now) / 1_000);
    expect(delays).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  test("is retried no earlier than the ledger requests or the schedule allows", () => {
    expect(scheduleRetry(fresh, retry("busy", 60_000), now, middle)).toEqual({ isParked: false, at: now + 60_000, error: "busy" });
    expect(scheduleRetry(fresh, retry("busy", 1), now, middle).at).toBe(now + 2_000);
  });

  test("is retried after six hours if the ledger requests a longer wait", () => {
    expect(scheduleRetry(fresh, retry("busy", 1e15), now, middle).at).toBe(now + 6 * 3_600_000);
  });

  test("is parked for six hours after a permanent refusal", () => {
    expect(scheduleRetry(fresh, permanent, now, middle)).toEqual({ isParked: true, at: now + 6 * 3_600_000, error: "refused" });
  });

  test.each([
    [{ attempts: 2, lastError: "receipt_root" }, "receipt_index", true],
    [{ attempts: 1, lastError: "receipt_root" }, "receipt_index", false],
    [{ attempts: 9, lastError: "timeout" }, "receipt_index", false],
    [{ attempts: 9, lastError: "receipt_root" }, "timeout", false],
    [{ attempts: 9, lastError: null }, "receipt_index", false],
  ])("with history %o and error %s is parked only after the third unproven response: %s", (tried, code, expected) => {
    expect(shouldPark(tried, retry(code))).toBe(expected);
  });

  test("is due immediately when the ledger forked", () => {
    const fork = { ok: false, kind: "fork" } as Failed;
    expect(scheduleRetry(fresh, fork, now, middle)).toEqual({ isParked: false, at: now, error: "fork" });
  });
});

test("a ledger is blocked after five failures, for longer each time", () => {
  const delays = Array.from({ length: 11 }, (_, at) => Math.max(0, getBlockedUntil(at + 1, now, middle) - now) / 1_000);
  expect(delays).toEqual([0, 0, 0, 0, 64, 128, 256, 512, 900, 900, 900]);
});
