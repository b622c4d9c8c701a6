// A business's activity charts: counts by day and by month (UTC). Every day and month has a point, including those without activity.
import { dayMs, type Instant } from "../time.ts";

/** Counts for one day. A list of them can omit days without activity, and can contain several entries for one day. */
export interface DailyCounts {
  readonly day: Instant;
  readonly issued: number;
  readonly withdrawn: number;
  /** The number of times that public certificate pages were opened. */
  readonly opened: number;
  readonly granted: number;
  readonly revoked: number;
  /** The number of withdrawals and revocations that the business acknowledged on time. */
  readonly onTime: number;
  readonly late: number;
}

/** A point on a chart: two values for an hour, a day or a month. */
export interface ChartPoint {
  readonly start: Instant;
  readonly up: number;
  readonly down: number;
}

type ActivityMetric = Exclude<keyof DailyCounts, "day">;

/** The metrics that are compared between the last thirty days and the thirty days before. */
export const comparedMetrics = ["issued", "withdrawn", "opened", "granted", "revoked"] as const satisfies readonly ActivityMetric[];

/** The sum of the last thirty days including today, and the sum of the thirty days before. */
export interface PeriodComparison {
  readonly current: number;
  readonly previous: number;
}

export interface Activity {
  /** Certificates issued and withdrawn per day, for the last thirty days including today. */
  readonly days: readonly ChartPoint[];
  readonly comparisons: Readonly<Record<(typeof comparedMetrics)[number], PeriodComparison>>;
  /** For each of the last twelve months, the numbers of withdrawals and revoked shares that were acknowledged on time and late. */
  readonly months: readonly ChartPoint[];
}

const chartDays = 30;
const chartMonths = 12;

const startOfDay = (at: Instant): Instant => at - (at % dayMs);
const startOfMonth = (at: Instant, offset: number): Instant => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
};

/** Returns the start of the period that `buildCertificateMonths` needs. */
export const getMonthlyActivityStart = (now: Instant): Instant => startOfMonth(now, 1 - chartMonths);

/** Returns the start of the period that `buildActivity` needs. */
export const getActivityStart = (now: Instant): Instant =>
  Math.min(startOfDay(now) - (2 * chartDays - 1) * dayMs, getMonthlyActivityStart(now));

const indexRange = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const sumMetric = (days: readonly DailyCounts[], metric: ActivityMetric, from: Instant, to: Instant): number =>
  days.reduce((sum, counts) => (counts.day >= from && counts.day < to ? sum + counts[metric] : sum), 0);

const buildMonthlyPoints = (
  counted: readonly DailyCounts[],
  now: Instant,
  up: ActivityMetric,
  down: ActivityMetric,
): readonly ChartPoint[] =>
  indexRange(chartMonths).map((at) => {
    const start = startOfMonth(now, at + 1 - chartMonths);
    const end = startOfMonth(start, 1);
    return { start, up: sumMetric(counted, up, start, end), down: sumMetric(counted, down, start, end) };
  });

/** Returns how many certificates were issued and withdrawn in each of the last twelve months, including this one. */
export const buildCertificateMonths = (counted: readonly DailyCounts[], now: Instant): readonly ChartPoint[] =>
  buildMonthlyPoints(counted, now, "issued", "withdrawn");

/** Builds the charts. `counted` must include all activity since `getActivityStart(now)`. */
export const buildActivity = (counted: readonly DailyCounts[], now: Instant): Activity => {
  const first = startOfDay(now) - (chartDays - 1) * dayMs;
  const compareMetric = (metric: ActivityMetric): PeriodComparison => ({
    current: sumMetric(counted, metric, first, Number.POSITIVE_INFINITY),
    previous: sumMetric(counted, metric, first - chartDays * dayMs, first),
  });
  return {
    days: indexRange(chartDays).map((at) => {
      const start = first + at * dayMs;
      const end = start + dayMs;
      return { start, up: sumMetric(counted, "issued", start, end), down: sumMetric(counted, "withdrawn", start, end) };
    }),
    comparisons: Object.fromEntries(comparedMetrics.map((metric) => [metric, compareMetric(metric)])) as Activity["comparisons"],
    months: buildMonthlyPoints(counted, now, "onTime", "late"),
  };
};
