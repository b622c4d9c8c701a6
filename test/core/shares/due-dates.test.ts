// Tests a share's due dates, and its status at a point in time.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeNextDueAt, getDaysUntilEnd } from "../../../core/shares/due-dates.ts";
import { shareStatuses, getShareStatus } from "../../../core/shares/share.ts";
import { dayMs } from "../../../core/time.ts";

const created = 1_772_600_767_089;
const createShare = (days: number) => ({ createdAt: created, expiresAt: created + days * dayMs });
/** Lists every due date of a share, in days before the share ends, if the job runs on time. */
const listDueDates = (days: number): number[] => {
  const share = createShare(days);
  const marks: number[] = [];
  for (let at = created; at < share.expiresAt; ) {
    at = computeNextDueAt(share, at);
    marks.push((share.expiresAt - at) / dayMs);
  }
  return marks;
};

describe("the next due date of a share", () => {
  test.each([
    [365, [7, 1, 0]],
    [8, [7, 1, 0]],
    [7, [1, 0]],
    [5, [1, 0]],
    [2, [1, 0]],
    [1, [0]],
  ])("of %i days falls %j days before the end", (days, marks) => {
    expect(listDueDates(days)).toEqual(marks);
  });

  test("is never in the past and never after the expiry", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 730 }), fc.integer({ min: 0, max: 800 * dayMs }), (days, after) => {
        const share = createShare(days);
        const next = computeNextDueAt(share, created + after);
        expect(next).toBeLessThanOrEqual(share.expiresAt);
        if (created + after < share.expiresAt) expect(next).toBeGreaterThan(created + after);
        else expect(next).toBe(share.expiresAt);
      }),
    );
  });

  test("skips warnings that were missed", () => {
    const { expiresAt } = createShare(30);
    expect(computeNextDueAt(createShare(30), expiresAt - 3 * dayMs)).toBe(expiresAt - dayMs);
    expect(computeNextDueAt(createShare(30), expiresAt - 1)).toBe(expiresAt);
    expect(computeNextDueAt(createShare(30), expiresAt + dayMs)).toBe(expiresAt);
  });
});

describe("the status of a share", () => {
  test("is expired from its expiry time on", () => {
    expect(getShareStatus("active", 1_000, 999)).toBe("active");
    expect(getShareStatus("active", 1_000, 1_000)).toBe("expired");
    expect(getShareStatus("active", 1_000, 1_001)).toBe("expired");
  });

  test.each(shareStatuses.filter((state) => state !== "active"))("stays %s at any time", (state) => {
    expect([getShareStatus(state, 1_000, 0), getShareStatus(state, 1_000, 2_000)]).toEqual([state, state]);
  });
});

describe("the days until a share ends", () => {
  test.each([
    ["active", 8 * dayMs, null],
    ["active", 8 * dayMs - 1, 7],
    ["active", dayMs, 1],
    ["active", dayMs - 1, 0],
    ["revoked", dayMs, null],
    ["superseded", dayMs, null],
  ] as const)("for one that is %s and ends in %i ms are %j", (status, remainingMs, days) => {
    expect(getDaysUntilEnd({ status, expiresAt: created + remainingMs }, created)).toBe(days);
  });
});
