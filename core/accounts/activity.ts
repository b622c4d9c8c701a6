// What happened to a business's records, day by day and month by month, as its charts show it: every day and month has its place, also
// those of which nothing is counted. Days are those of UTC.
import { dayMs, type Instant } from "../time.ts";

/** What is counted of one day; days on which nothing happened are left out. */
export interface CountedDay {
  readonly day: Instant;
  /** Certificates. */
  readonly issued: number;
  readonly withdrawn: number;
  /** Their pages, by people. */
  readonly opened: number;
  /** Shares. */
  readonly granted: number;
  readonly stopped: number;
  /** Acknowledgements. */
  readonly onTime: number;
  readonly late: number;
}

/** Figures of an hour, a day or a month, by what the two sides of a chart show. */
export interface Figures {
  /** When it begins. */
  readonly start: Instant;
  readonly up: number;
  readonly down: number;
}

type Counted = Exclude<keyof CountedDay, "day">;

/** What is told of the last thirty days beside the thirty before. */
export const comparedCounts = ["issued", "withdrawn", "opened", "granted", "stopped"] as const satisfies readonly Counted[];

/** Of the last thirty days with today, and of the thirty before these. */
export interface Compared {
  readonly now: number;
  readonly before: number;
}

export interface Activity {
  /** Issued and withdrawn, of the last thirty days with today. */
  readonly days: readonly Figures[];
  readonly compared: Readonly<Record<(typeof comparedCounts)[number], Compared>>;
  /** Acknowledged on time and late, of the last twelve months with this one. */
  readonly months: readonly Figures[];
}

const shownDays = 30;
const shownMonths = 12;

const dayOf = (at: Instant): Instant => at - (at % dayMs);
const monthOf = (at: Instant, more: number): Instant => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more, 1);
};

/** From when on days are counted for `certificateMonthsOf`. */
export const monthsSince = (now: Instant): Instant => monthOf(now, 1 - shownMonths);

/** From when on days are counted for `activityOf`. */
export const activitySince = (now: Instant): Instant => Math.min(dayOf(now) - (2 * shownDays - 1) * dayMs, monthsSince(now));

const places = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const sumOf = (counted: readonly CountedDay[], of: Counted, from: Instant, to: Instant): number =>
  counted.reduce((sum, one) => (one.day >= from && one.day < to ? sum + one[of] : sum), 0);

const monthsOf = (counted: readonly CountedDay[], now: Instant, up: Counted, down: Counted): readonly Figures[] =>
  places(shownMonths).map((at) => {
    const start = monthOf(now, at + 1 - shownMonths);
    const end = monthOf(start, 1);
    return { start, up: sumOf(counted, up, start, end), down: sumOf(counted, down, start, end) };
  });

/** Issued and withdrawn, of the last twelve months with this one. */
export const certificateMonthsOf = (counted: readonly CountedDay[], now: Instant): readonly Figures[] =>
  monthsOf(counted, now, "issued", "withdrawn");

export const activityOf = (counted: readonly CountedDay[], now: Instant): Activity => {
  const first = dayOf(now) - (shownDays - 1) * dayMs;
  const compared = (of: Counted): Compared => ({
    now: sumOf(counted, of, first, Number.POSITIVE_INFINITY),
    before: sumOf(counted, of, first - shownDays * dayMs, first),
  });
  return {
    days: places(shownDays).map((at) => {
      const start = first + at * dayMs;
      const end = start + dayMs;
      return { start, up: sumOf(counted, "issued", start, end), down: sumOf(counted, "withdrawn", start, end) };
    }),
    compared: Object.fromEntries(comparedCounts.map((of) => [of, compared(of)])) as Activity["compared"],
    months: monthsOf(counted, now, "onTime", "late"),
  };
};
