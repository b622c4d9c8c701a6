// How attempts to deliver to an endpoint ended, by the hour, as a chart shows it: every hour has its place, also those in which none did.
import type { ChartPoint } from "../accounts/activity.ts";
import { hourMs, type Instant } from "../time.ts";

/** What is counted of one hour: attempts that were delivered, replays among them, and attempts that failed. */
export interface HourlyAttempts {
  readonly start: Instant;
  readonly delivered: number;
  readonly failed: number;
}

const chartHours = 48;

export const toStartOfHour = (at: Instant): Instant => at - (at % hourMs);

/** When the first hour begins that is shown. */
export const getChartStart = (now: Instant): Instant => toStartOfHour(now) - (chartHours - 1) * hourMs;

/** Delivered up, failed down, of the last forty-eight hours with this one. */
export const toHourlyFigures = (counted: readonly HourlyAttempts[], now: Instant): readonly ChartPoint[] =>
  Array.from({ length: chartHours }, (_, at) => {
    const start = getChartStart(now) + at * hourMs;
    const hour = counted.find((one) => one.start === start);
    return { start, up: hour?.delivered ?? 0, down: hour?.failed ?? 0 };
  });
