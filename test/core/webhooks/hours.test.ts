// Tests counting delivery attempts per hour for the chart.
import { expect, test } from "vitest";
import { toHourlyFigures, getChartStart } from "../../../core/webhooks/hourly-attempts.ts";

const parseTime = (text: string): number => Date.parse(text);
const now = parseTime("2026-03-05T13:30:00Z");

test("the chart has every hour, ending with the current one", () => {
  const hours = toHourlyFigures(
    [
      { start: parseTime("2026-03-03T13:00:00Z"), delivered: 100, failed: 100 }, // one hour too old
      { start: parseTime("2026-03-03T14:00:00Z"), delivered: 2, failed: 1 },
      { start: parseTime("2026-03-05T13:00:00Z"), delivered: 0, failed: 4 },
    ],
    now,
  );
  expect(hours).toHaveLength(48);
  expect([hours[0], hours[1], hours.at(-1)]).toEqual([
    { start: parseTime("2026-03-03T14:00:00Z"), up: 2, down: 1 },
    { start: parseTime("2026-03-03T15:00:00Z"), up: 0, down: 0 },
    { start: parseTime("2026-03-05T13:00:00Z"), up: 0, down: 4 },
  ]);
  expect(getChartStart(now)).toBe(parseTime("2026-03-03T14:00:00Z"));
});
