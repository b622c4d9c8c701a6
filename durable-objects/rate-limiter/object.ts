// One object per rate-limited key. It stores the time of each call in a sliding window, so that no window ever contains more calls than
// allowed; fixed windows would allow twice as many across their boundary. Calls are kept in storage because an idle object loses its memory
// within seconds. An object has at most `count` rows.
import { DurableObject } from "cloudflare:workers";
import type { RateLimit, RateLimitState } from "../../core/access/rate-limit.ts";
import { secondMs } from "../../core/time.ts";
import { migrateSchema } from "../schema-steps.ts";
import { rateLimiterSteps } from "./migrations.ts";
import { countCalls, deleteCallsOutside, findCallTime, insertCall } from "./tables.ts";

export class RateLimiter extends DurableObject {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never);
    migrateSchema(ctx.storage, rateLimiterSteps);
  }

  /** Counts `calls` calls at `now` (milliseconds) if the window has room for all of them; otherwise counts none. */
  take(limit: RateLimit, now: number, calls = 1): RateLimitState {
    const { sql } = this.ctx.storage;
    const windowMs = limit.seconds * secondMs;
    // A call more than one window in the future was recorded before the clock was set back. It is deleted, because it would otherwise count
    // until the clock catches up with it.
    deleteCallsOutside(sql, now - windowMs, now + windowMs);
    const taken = countCalls(sql);
    const isAllowed = taken + calls <= limit.count;
    // Finds the call that must leave the window to make room: the oldest one, or a later one if several must leave.
    const leaving = findCallTime(sql, Math.max(0, Math.min(taken, taken + calls - limit.count) - 1));
    if (isAllowed) for (let counted = 0; counted < calls; counted += 1) insertCall(sql, now);
    return {
      isAllowed,
      remaining: Math.max(0, limit.count - taken - (isAllowed ? calls : 0)),
      resetMs: (leaving ?? now) + windowMs - now,
    };
  }
}
