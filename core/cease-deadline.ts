// The cease-contact deadline of certificates and shares: ten business days (SPEC Limits). Business days are Monday to Friday in UTC, not
// counting the day of the event. Holidays count as business days, so anyone can compute the deadline from the timestamp alone.
import { dayMs, type Instant, toDayNumber } from "./time.ts";

const ceaseBusinessDays = 10;

const isWeekend = (instant: Instant): boolean => {
  const day = new Date(instant).getUTCDay();
  return day === 0 || day === 6;
};

/** Returns the last millisecond of the tenth business day after `from`. */
export const getCeaseDeadline = (from: Instant): Instant => {
  const midnight = toDayNumber(from) * dayMs;
  let day = midnight;
  for (let counted = 0; counted < ceaseBusinessDays; ) {
    day += dayMs;
    if (!isWeekend(day)) counted += 1;
  }
  return day + dayMs - 1;
};
