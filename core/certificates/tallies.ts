// Plans how to count certificates over a period. There are counters for each day and each hour. A total is the sum of three parts: the
// counters of the whole days, the counters of the whole hours before and after those days, and a direct count of the partial hours at both
// ends.
import { dayMs, hourMs, type Instant } from "../time.ts";

/** The lengths of the counted periods, longest first. The triggers in d1-migrations use the same lengths. */
export const tallySpansMs: readonly number[] = [dayMs, hourMs];

/** The latest instant that a Date can represent. It is a multiple of both lengths in `tallySpansMs`. */
const maxInstant: Instant = 8_640_000_000_000_000;

/** A period that includes `from` and excludes `to`. */
interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

interface TallyPlan {
  readonly wholeSpans: readonly (Period & { readonly span: number })[];
  readonly remainders: readonly Period[];
}

const dividePeriod = (period: Period, [span, ...shorter]: readonly number[]): TallyPlan => {
  if (period.from >= period.to) return { wholeSpans: [], remainders: [] };
  if (span === undefined) return { wholeSpans: [], remainders: [period] };
  const from = Math.ceil(period.from / span) * span;
  const to = Math.floor(period.to / span) * span;
  if (from >= to) return dividePeriod(period, shorter);
  const before = dividePeriod({ from: period.from, to: from }, shorter);
  const after = dividePeriod({ from: to, to: period.to }, shorter);
  return {
    wholeSpans: [...before.wholeSpans, { span, from, to }, ...after.wholeSpans],
    remainders: [...before.remainders, ...after.remainders],
  };
};

/** Plans a count. Both ends are inclusive; null means that there is no bound. */
export const planTallies = (from: Instant | null, to: Instant | null): TallyPlan =>
  dividePeriod({ from: Math.max(0, from ?? 0), to: to === null ? maxInstant : Math.min(maxInstant, to + 1) }, tallySpansMs);
