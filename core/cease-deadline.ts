// The cease-contact deadline of certificates and shares: ten business days (SPEC Limits). The count includes Monday to Friday in UTC,
// excludes the day of the event and uses no holiday calendar, so anyone can recompute the deadline from the timestamp alone. A deadline
// that also skipped holidays could only be later.
import { dayMs, type Instant } from "./time.ts";

const ceaseBusinessDays = 10;

const isWeekend = (instant: Instant): boolean => {
  const day = new Date(instant).getUTCDay();
  return day === 0 || day === 6;
};

/** Returns the last millisecond of the tenth business day after `from`. */
export const getCeaseDeadline = (from: Instant): Instant => {
  const midnight = Math.floor(from / dayMs) * dayMs;
  let day = midnight;
  for (let counted = 0; counted < ceaseBusinessDays; ) {
    day += dayMs;
    if (!isWeekend(day)) counted += 1;
  }
  return day + dayMs - 1;
};
