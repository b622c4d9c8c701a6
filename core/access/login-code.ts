// The six digits that sign a person in, and the limits around them: at most five codes in a quarter of an hour, each bearing
// five tries, so a guesser has 25 in 1,000,000 in that time while the person's mailbox fills with codes nobody asked for.
import type { RandomBytes } from "../ids.ts";
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

const codes = 1_000_000;
const fairBelow = 16_000_000; // the largest multiple of a million in 24 bits: beyond it some codes would be likelier

/** Six digits, each of the million equally likely. */
export const newLoginCode = (random: RandomBytes): string => {
  for (;;) {
    const [high = 0, middle = 0, low = 0] = random(3);
    const drawn = (high << 16) | (middle << 8) | low;
    if (drawn < fairBelow) return String(drawn % codes).padStart(6, "0");
  }
};
