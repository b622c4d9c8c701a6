// The clock of a sandbox: it goes forward only, so that what happened stays in its order, and not further than anybody's share lasts.
import { refuse, ok, type Result } from "../result.ts";
import { dayMs, secondMs, type Instant } from "../time.ts";

/** Three years, one of them a leap year. */
const maxClockOffsetMs = 1_096 * dayMs;

/** By so many seconds, or to a moment. */
export type ClockMove = { readonly advanceSeconds: number } | { readonly to: Instant };

/** How far it is ahead afterwards. */
export const decideClockMove = (offsetMs: number, move: ClockMove, now: Instant): Result<number, "invalid_request"> => {
  const next = "to" in move ? move.to - now : offsetMs + move.advanceSeconds * secondMs;
  if (next < offsetMs) return refuse("invalid_request", "to: must not be before what the clock says. POST /v1/sandbox/reset sets it back.");
  if (next > maxClockOffsetMs)
    return refuse("invalid_request", "The clock goes at most 1,096 days ahead of the time in all. POST /v1/sandbox/reset sets it back.");
  return ok(next);
};
