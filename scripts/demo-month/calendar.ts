// The times of the actions in the demo month.
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { dayMs, hourMs, minuteMs, type Instant } from "../../core/time.ts";
import type { Dice } from "./random.ts";

const daysShown = 30;
const dayStartsAtMs = 13 * hourMs; // 13:00 UTC is morning on the US East Coast
const dayLengthMs = 14 * hourMs;
const recentLeadAges = [4 * minuteMs, 26 * minuteMs, 71 * minuteMs];

const toDayStart = (at: Instant): Instant => at - (at % dayMs);

export const isWeekend = (at: Instant): boolean => [0, 6].includes(new Date(at).getUTCDay());

/**
 * Returns the start of the hour in which one webhook endpoint fails. It is the latest full hour between 15:00 and 23:00 UTC (working hours
 * in the US) that ended at least four hours ago. All retries are over by then.
 */
export const getOutageStart = (now: Instant): Instant => {
  let hour = now - (now % hourMs) - 5 * hourMs;
  while (hour % dayMs < 15 * hourMs || hour % dayMs > 22 * hourMs) hour -= hourMs;
  return hour;
};

/**
 * Returns the times when people send forms, oldest first. There are more on working days than on weekends, and some just before `now`.
 */
export const listLeadTimes = (now: Instant, dice: Dice): readonly Instant[] => {
  const times = recentLeadAges.map((age) => now - age);
  for (let daysAgo = daysShown - 1; daysAgo >= 0; daysAgo -= 1) {
    const day = toDayStart(now) - daysAgo * dayMs;
    const count = isWeekend(day) ? 2 + Math.floor(dice.roll() * 2) : 6 + Math.floor(dice.roll() * 3);
    for (let lead = 0; lead < count; lead += 1) {
      const middle = (dice.roll() + dice.roll()) / 2; // the average of two rolls makes midday more likely than early or late hours
      times.push(Math.floor(day + dayStartsAtMs + middle * dayLengthMs));
    }
  }
  return times.filter((at) => at < now - minuteMs).sort((a, b) => a - b);
};

/** Returns the latest time before `now`, in steps of an hour, at which a withdrawal would have a deadline before `endedBefore`. */
export const getLastTimeWithDeadlineBefore = (now: Instant, endedBefore: Instant): Instant => {
  let at = now - hourMs;
  while (getCeaseDeadline(at) >= endedBefore) at -= hourMs;
  return at;
};
