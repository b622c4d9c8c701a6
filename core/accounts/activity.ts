// What happened to a business's records, day by day and month by month, as its charts show it: every day and month has its place, also
// those of which nothing is counted. Days are those of UTC.
import { dayMs, type Instant } from "../time.ts";

/** What is counted of one day; days on which nothing happened are left out. */
export interface DailyCounts {
  readonly day: Instant;
  /** Certificates. */
  readonly issued: number;
  readonly withdrawn: number;
  /** Their pages, by people. */
  readonly opened: number;
  /** Shares. */
  readonly granted: number;
  readonly revoked: number;
  /** Acknowledgements. */
  readonly onTime: number;
  readonly late: number;
}

/** Figures of an hour, a day or a month, by what the two sides of a chart show. */
export interface ChartPoint {
  /** When it begins. */
  readonly start: Instant;
  readonly up: number;
  readonly down: number;
}

type ActivityMetric = Exclude<keyof DailyCounts, "day">;

/** What is told of the last thirty days beside the thirty before. */
export const comparedMetrics = ["issued", "withdrawn", "opened", "granted", "revoked"] as const satisfies readonly ActivityMetric[];

/** Of the last thirty days with today, and of the thirty before these. */
export interface PeriodComparison {
  readonly current: number;
  readonly previous: number;
}

export interface Activity {
  /** Issued and withdrawn, of the last thirty days with today. */
  readonly days: readonly ChartPoint[];
  readonly comparisons: Readonly<Record<(typeof comparedMetrics)[number], PeriodComparison>>;
  /** Acknowledged on time and late, of the last twelve months with this one. */
  readonly months: readonly ChartPoint[];
}

const chartDays = 30;
const chartMonths = 12;

const startOfDay = (at: Instant): Instant => at - (at % dayMs);
const startOfMonth = (at: Instant, more: number): Instant => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more, 1);
};

/** From when on days are counted for `certificateMonthsOf`. */
export const getMonthlyActivityStart = (now: Instant): Instant => startOfMonth(now, 1 - chartMonths);

/** From when on days are counted for `activityOf`. */
export const getActivityStart = (now: Instant): Instant =>
  Math.min(startOfDay(now) - (2 * chartDays - 1) * dayMs, getMonthlyActivityStart(now));

const indexRange = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const sumMetric = (counted: readonly DailyCounts[], of: ActivityMetric, from: Instant, to: Instant): number =>
  counted.reduce((sum, one) => (one.day >= from && one.day < to ? sum + one[of] : sum), 0);

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

/** Issued and withdrawn, of the last twelve months with this one. */
export const buildCertificateMonths = (counted: readonly DailyCounts[], now: Instant): readonly ChartPoint[] =>
  buildMonthlyPoints(counted, now, "issued", "withdrawn");

export const buildActivity = (counted: readonly DailyCounts[], now: Instant): Activity => {
  const first = startOfDay(now) - (chartDays - 1) * dayMs;
  const compared = (of: ActivityMetric): PeriodComparison => ({
    current: sumMetric(counted, of, first, Number.POSITIVE_INFINITY),
    previous: sumMetric(counted, of, first - chartDays * dayMs, first),
  });
  return {
    days: indexRange(chartDays).map((at) => {
      const start = first + at * dayMs;
      const end = start + dayMs;
      return { start, up: sumMetric(counted, "issued", start, end), down: sumMetric(counted, "withdrawn", start, end) };
    }),
    comparisons: Object.fromEntries(comparedMetrics.map((of) => [of, compared(of)])) as Activity["comparisons"],
    months: buildMonthlyPoints(counted, now, "onTime", "late"),
  };
};
