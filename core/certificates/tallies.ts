// Certificates are counted by hour and by day as they are issued. What was issued between two instants is then a sum of whole
// days, of whole hours before and after them, and of what is left of two hours, which is counted.
import { dayMs, hourMs, type Instant } from "../time.ts";

/** From the longest to the shortest; as in the triggers of d1-migrations. */
const spans: readonly number[] = [dayMs, hourMs];

/** Every instant of a Date lies before it; a multiple of each span. */
const endOfTime: Instant = 8_640_000_000_000_000;

/** From `from` up to and without `to`. */
interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

interface Tallied {
  readonly whole: readonly (Period & { readonly span: number })[];
  readonly rest: readonly Period[];
}

const divided = (period: Period, [span, ...shorter]: readonly number[]): Tallied => {
  if (period.from >= period.to) return { whole: [], rest: [] };
  if (span === undefined) return { whole: [], rest: [period] };
  const from = Math.ceil(period.from / span) * span;
  const to = Math.floor(period.to / span) * span;
  if (from >= to) return divided(period, shorter);
  const before = divided({ from: period.from, to: from }, shorter);
  const after = divided({ from: to, to: period.to }, shorter);
  return { whole: [...before.whole, { span, from, to }, ...after.whole], rest: [...before.rest, ...after.rest] };
};

/** Both ends are included; null is without an end. */
export const talliedPeriods = (from: Instant | null, to: Instant | null): Tallied =>
  divided({ from: Math.max(0, from ?? 0), to: to === null ? endOfTime : Math.min(endOfTime, to + 1) }, spans);
