// How attempts to deliver to an endpoint ended, by the hour, as a chart shows it: every hour has its place, also those in which none did.
import type { Figures } from "../accounts/activity.ts";
import { hourMs, type Instant } from "../time.ts";

/** What is counted of one hour: attempts that were delivered, replays among them, and attempts that failed. */
export interface CountedHour {
  readonly start: Instant;
  readonly delivered: number;
  readonly failed: number;
}

const shownHours = 48;

export const hourOf = (at: Instant): Instant => at - (at % hourMs);

/** When the first hour begins that is shown. */
export const shownHoursSince = (now: Instant): Instant => hourOf(now) - (shownHours - 1) * hourMs;

/** Delivered up, failed down, of the last forty-eight hours with this one. */
export const attemptHoursOf = (counted: readonly CountedHour[], now: Instant): readonly Figures[] =>
  Array.from({ length: shownHours }, (_, at) => {
    const start = shownHoursSince(now) + at * hourMs;
    const hour = counted.find((one) => one.start === start);
    return { start, up: hour?.delivered ?? 0, down: hour?.failed ?? 0 };
  });
