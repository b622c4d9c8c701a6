// What happened to a business's certificates and duties, day by day and month by month, as its charts show it: every day and month
// has its place, also those of which nothing is counted. Days are those of UTC.
import { dayMs, type Instant } from "../time.ts";

/** What is counted of one day; days on which nothing happened are left out. */
export interface CountedDay {
  readonly day: Instant;
  readonly issued: number;
  readonly withdrawn: number;
  readonly onTime: number;
  readonly late: number;
}

/** Figures of a day or a month, by what the two sides of a chart show. */
export interface Figures {
  /** When it begins. */
  readonly start: Instant;
  readonly up: number;
  readonly down: number;
}

export interface Activity {
  /** Issued and withdrawn, of the last thirty days with today. */
  readonly days: readonly Figures[];
  /** Of the thirty days before these. */
  readonly before: Pick<Figures, "up" | "down">;
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

/** From when on `activityOf` needs what was issued, and what happened besides: midnight UTC. */
export const activitySince = (now: Instant): { readonly issued: Instant; readonly happened: Instant } => {
  const issued = dayOf(now) - (2 * shownDays - 1) * dayMs;
  return { issued, happened: Math.min(issued, monthOf(now, 1 - shownMonths)) };
};

const places = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

export const activityOf = (counted: readonly CountedDay[], now: Instant): Activity => {
  const sums = (from: Instant, to: Instant) => {
    const within = counted.filter(({ day }) => day >= from && day < to);
    const sum = (of: Exclude<keyof CountedDay, "day">): number => within.reduce((total, one) => total + one[of], 0);
    return { certificates: { up: sum("issued"), down: sum("withdrawn") }, duties: { up: sum("onTime"), down: sum("late") } };
  };
  const first = dayOf(now) - (shownDays - 1) * dayMs;
  return {
    days: places(shownDays).map((at) => {
      const start = first + at * dayMs;
      return { start, ...sums(start, start + dayMs).certificates };
    }),
    before: sums(first - shownDays * dayMs, first).certificates,
    months: places(shownMonths).map((at) => {
      const start = monthOf(now, at + 1 - shownMonths);
      return { start, ...sums(start, monthOf(start, 1)).duties };
    }),
  };
};
