// The cease-contact deadline: ten business days, used by certificates and shares alike (SPEC, Limits).
// Monday to Friday in UTC, the day of the event not counted, no holiday calendar: anyone can recompute it from the
// timestamp alone, and it is never later than a reading that also skips holidays.
import { dayMs, type Instant } from "./time.ts";

const ceaseBusinessDays = 10;

const isWeekend = (instant: Instant): boolean => {
  const day = new Date(instant).getUTCDay();
  return day === 0 || day === 6;
};

/** The last millisecond of the tenth business day after `from`. */
export const getCeaseDeadline = (from: Instant): Instant => {
  const midnight = Math.floor(from / dayMs) * dayMs;
  let day = midnight;
  for (let counted = 0; counted < ceaseBusinessDays; ) {
    day += dayMs;
    if (!isWeekend(day)) counted += 1;
  }
  return day + dayMs - 1;
};
