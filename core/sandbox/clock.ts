// The sandbox clock. Until the sandbox is reset, it only moves forward, so that events keep their order. It can be at most three years
// ahead, which is longer than any share lasts.
import { refuse, ok, type Result } from "../result.ts";
import { dayMs, secondMs, type Instant } from "../time.ts";

/** The maximum offset, in milliseconds: three years, including a leap day. */
const maxClockOffsetMs = 1_096 * dayMs;

export type ClockMove = { readonly advanceSeconds: number } | { readonly to: Instant };

/** Returns the new offset from real time in milliseconds. Refuses to move the clock back, or more than 1,096 days ahead. */
export const decideClockMove = (offsetMs: number, move: ClockMove, now: Instant): Result<number, "invalid_request"> => {
  const next = "to" in move ? move.to - now : offsetMs + move.advanceSeconds * secondMs;
  if (next < offsetMs)
    return refuse("invalid_request", "to: must not be before the current sandbox time. To set the clock back, use POST /v1/sandbox/reset.");
  if (next > maxClockOffsetMs)
    return refuse("invalid_request", "The sandbox clock can be at most 1,096 days ahead. To set it back, use POST /v1/sandbox/reset.");
  return ok(next);
};
