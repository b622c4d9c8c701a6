// Certificates are counted by hour and by day as they are issued. What was issued between two instants is then a sum of whole
// days, of whole hours before and after them, and of what is left of two hours, which is counted.
import { dayMs, hourMs, type Instant } from "../time.ts";

/** From the longest to the shortest; as in the triggers of d1-migrations. */
const tallySpansMs: readonly number[] = [dayMs, hourMs];

/** Every instant of a Date lies before it; a multiple of each span. */
const maxInstant: Instant = 8_640_000_000_000_000;

/** From `from` up to and without `to`. */
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

/** Both ends are included; null is without an end. */
export const planTallies = (from: Instant | null, to: Instant | null): TallyPlan =>
  dividePeriod({ from: Math.max(0, from ?? 0), to: to === null ? maxInstant : Math.min(maxInstant, to + 1) }, tallySpansMs);
