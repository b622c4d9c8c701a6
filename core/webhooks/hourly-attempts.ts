// Builds the chart of an endpoint's delivery attempts per hour, including hours without attempts.
import type { ChartPoint } from "../accounts/activity.ts";
import { hourMs, type Instant } from "../time.ts";

/** The attempts in one hour, including replays. */
export interface HourlyAttempts {
  readonly start: Instant;
  readonly delivered: number;
  readonly failed: number;
}

const chartHours = 48;

export const toStartOfHour = (at: Instant): Instant => at - (at % hourMs);

export const getChartStart = (now: Instant): Instant => toStartOfHour(now) - (chartHours - 1) * hourMs;

/**
 * Returns the chart points for the last 48 hours, including the current one. The upper values are successful attempts, and the lower values
 * are failed attempts.
 */
export const toHourlyFigures = (hours: readonly HourlyAttempts[], now: Instant): readonly ChartPoint[] =>
  Array.from({ length: chartHours }, (_, at) => {
    const start = getChartStart(now) + at * hourMs;
    const hour = hours.find((candidate) => candidate.start === start);
    return { start, up: hour?.delivered ?? 0, down: hour?.failed ?? 0 };
  });
