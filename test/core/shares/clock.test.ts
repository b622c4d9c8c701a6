// The marks of a share's clock, and what it is at a moment.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeNextDueAt } from "../../../core/shares/due-dates.ts";
import { shareStatuses, getShareStatus } from "../../../core/shares/share.ts";
import { dayMs } from "../../../core/time.ts";

const created = 1_772_600_767_089;
const of = (days: number) => ({ createdAt: created, expiresAt: created + days * dayMs });
/** Every mark of a share whose sweep is never late, as days before its end. */
const marksOf = (days: number): number[] => {
  const share = of(days);
  const marks: number[] = [];
  for (let at = created; at < share.expiresAt; ) {
    at = computeNextDueAt(share, at);
    marks.push((share.expiresAt - at) / dayMs);
  }
  return marks;
};

describe("a share's clock", () => {
  test.each([
    [365, [7, 1, 0]],
    [8, [7, 1, 0]],
    [7, [1, 0]],
    [5, [1, 0]],
    [2, [1, 0]],
    [1, [0]],
  ])("of %i days stops at %j days before the end", (days, marks) => {
    expect(marksOf(days)).toEqual(marks);
  });

  test("never stops at a mark that has passed, nor after the end", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 730 }), fc.integer({ min: 0, max: 800 * dayMs }), (days, after) => {
        const share = of(days);
        const next = computeNextDueAt(share, created + after);
        expect(next).toBeLessThanOrEqual(share.expiresAt);
        if (created + after < share.expiresAt) expect(next).toBeGreaterThan(created + after);
        else expect(next).toBe(share.expiresAt);
      }),
    );
  });

  test("that jumps past the first warning goes on to the second, and past both to the end", () => {
    const { expiresAt } = of(30);
    expect(computeNextDueAt(of(30), expiresAt - 3 * dayMs)).toBe(expiresAt - dayMs);
    expect(computeNextDueAt(of(30), expiresAt - 1)).toBe(expiresAt);
    expect(computeNextDueAt(of(30), expiresAt + dayMs)).toBe(expiresAt);
  });
});

describe("the status of a share", () => {
  test("is expired from the very instant of its end, and not before", () => {
    expect(getShareStatus("active", 1_000, 999)).toBe("active");
    expect(getShareStatus("active", 1_000, 1_000)).toBe("expired");
    expect(getShareStatus("active", 1_000, 1_001)).toBe("expired");
  });

  test.each(shareStatuses.filter((state) => state !== "active"))("stays %s, whatever the time", (state) => {
    expect([getShareStatus(state, 1_000, 0), getShareStatus(state, 1_000, 2_000)]).toEqual([state, state]);
  });
});
