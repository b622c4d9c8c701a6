// Tests the daily and monthly values in the portal's charts.
import { expect, test } from "vitest";
import {
  buildActivity,
  getActivityStart,
  buildCertificateMonths,
  getMonthlyActivityStart,
  type DailyCounts,
} from "../../../core/accounts/activity.ts";

const parseTime = (text: string): number => Date.parse(text);
const now = parseTime("2026-03-05T13:30:00Z");
const createCounts = (day: string, more: Partial<DailyCounts>): DailyCounts => ({
  day: parseTime(day),
  issued: 0,
  withdrawn: 0,
  opened: 0,
  granted: 0,
  revoked: 0,
  onTime: 0,
  late: 0,
  ...more,
});

test("buildActivity returns a point for each of the last thirty days and the sum of the thirty before", () => {
  const { days, comparisons } = buildActivity(
    [
      createCounts("2026-01-04", { issued: 100 }), // the day before the sixty-day range
      createCounts("2026-01-05", { issued: 2, withdrawn: 1, opened: 10 }),
      createCounts("2026-02-03", { issued: 3, revoked: 8 }),
      createCounts("2026-02-04", { issued: 5, opened: 20, granted: 9 }),
      createCounts("2026-03-05", { issued: 7 }),
      createCounts("2026-03-05", { withdrawn: 4 }),
    ],
    now,
  );
  expect(days).toHaveLength(30);
  expect(days[0]).toEqual({ start: parseTime("2026-02-04"), up: 5, down: 0 });
  expect(days[1]).toEqual({ start: parseTime("2026-02-05"), up: 0, down: 0 });
  expect(days.at(-1)).toEqual({ start: parseTime("2026-03-05"), up: 7, down: 4 });
  expect(comparisons).toEqual({
    issued: { current: 12, previous: 5 },
    withdrawn: { current: 4, previous: 1 },
    opened: { current: 20, previous: 10 },
    granted: { current: 9, previous: 0 },
    revoked: { current: 0, previous: 8 },
  });
});

test("buildActivity returns twelve calendar months, ending with the current one", () => {
  const { months } = buildActivity(
    [
      createCounts("2025-03-31", { onTime: 100 }),
      createCounts("2025-04-01", { onTime: 1 }),
      createCounts("2025-04-30", { late: 2 }),
      createCounts("2026-02-28", { onTime: 3 }),
      createCounts("2026-03-01", { onTime: 4, late: 5 }),
    ],
    now,
  );
  expect(months.map(({ start }) => new Date(start).toISOString().slice(0, 7))).toEqual([
    ...["04", "05", "06", "07", "08", "09", "10", "11", "12"].map((month) => `2025-${month}`),
    "2026-01",
    "2026-02",
    "2026-03",
  ]);
  expect([months[0], months[10], months[11]].map((month) => [month?.up, month?.down])).toEqual([
    [1, 2],
    [3, 0],
    [4, 5],
  ]);
});

test("buildCertificateMonths returns twelve calendar months and counts each from its first day", () => {
  const counts = [
    createCounts("2025-03-31", { issued: 100 }),
    createCounts("2025-04-01", { issued: 1 }),
    createCounts("2026-02-28", { issued: 3, withdrawn: 2 }),
    createCounts("2026-03-01", { issued: 4 }),
  ];
  const months = buildCertificateMonths(counts, now);
  expect([months.length, months[0], months[10], months[11]]).toEqual([
    12,
    { start: parseTime("2025-04-01"), up: 1, down: 0 },
    { start: parseTime("2026-02-01"), up: 3, down: 2 },
    { start: parseTime("2026-03-01"), up: 4, down: 0 },
  ]);
});

test("getActivityStart and getMonthlyActivityStart return the earliest day shown", () => {
  expect([getMonthlyActivityStart(now), getActivityStart(now)]).toEqual([parseTime("2025-04-01"), parseTime("2025-04-01")]);
});
