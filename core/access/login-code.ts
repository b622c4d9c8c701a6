// The limits around a code that signs a person in: at most five codes in a quarter of an hour, each bearing
// five tries, so a guesser has 25 in 1,000,000 in that time while the person's mailbox fills with codes nobody asked for.
import { minuteMs, secondMs } from "../time.ts";

export const loginCodeLimits = {
  lifeMs: 10 * minuteMs,
  /** Counted before anything is compared. */
  tries: 5,
  /** While a code is open, the next one waits this long. */
  resendMs: 60 * secondMs,
} as const;

/** Rows are looked at for a quarter of an hour; a day's margin would only keep more. */
export const loginCodesKeptMs = 60 * minuteMs;
