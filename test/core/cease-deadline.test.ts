// Tests the cease-contact deadline: the published examples, and every day of ten years compared with a second calculation.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { dayMs, toIso } from "../../core/time.ts";

/** Returns the number of days until the deadline: 14 for a withdrawal on a weekday, 13 on a Saturday, and 12 on a Sunday. */
const countDaysAhead = (weekday: number): number => ({ 6: 13, 0: 12 })[weekday] ?? 14;

describe("getCeaseDeadline", () => {
  test.each([
    ["a Friday", "2026-11-20T10:05:00.000Z", "2026-12-04T23:59:59.999Z"],
    ["a Saturday", "2026-11-21T00:00:00.000Z", "2026-12-04T23:59:59.999Z"],
    ["a Sunday", "2026-11-22T23:59:59.999Z", "2026-12-04T23:59:59.999Z"],
    ["a Monday", "2026-11-23T12:00:00.000Z", "2026-12-07T23:59:59.999Z"],
    ["the last day of a leap February", "2028-02-29T00:00:00.000Z", "2028-03-14T23:59:59.999Z"],
    ["New Year's Eve", "2026-12-31T23:59:59.999Z", "2027-01-14T23:59:59.999Z"],
  ])("returns the published deadline when the event is on %s", (_name, from, until) => {
    expect(toIso(getCeaseDeadline(Date.parse(from)))).toBe(until);
  });

  test("matches a second calculation for the first and last millisecond and noon of every day of ten years", () => {
    for (let day = Date.UTC(2026, 0, 1); day < Date.UTC(2036, 0, 1); day += dayMs) {
      const expected = day + (countDaysAhead(new Date(day).getUTCDay()) + 1) * dayMs - 1;
      for (const at of [day, day + dayMs / 2, day + dayMs - 1]) expect(toIso(getCeaseDeadline(at)), toIso(at)).toBe(toIso(expected));
    }
  });

  test("returns the last millisecond of a weekday and never decreases as time advances", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }), fc.integer({ min: 0, max: 40 * dayMs }), (from, delay) => {
        const deadline = getCeaseDeadline(from);
        expect([0, 6]).not.toContain(new Date(deadline).getUTCDay());
        expect((deadline + 1) % dayMs).toBe(0);
        expect(getCeaseDeadline(from + delay)).toBeGreaterThanOrEqual(deadline);
      }),
    );
  });
});
