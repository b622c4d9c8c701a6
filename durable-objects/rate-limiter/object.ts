// One object a limited key: a sliding window kept as the log of the calls in it, so that no 60 seconds ever hold more
// calls than allowed (a fixed window would let twice as many through across its edge). The log is in storage, because an
// idle object forgets its memory within seconds; at most `count` rows exist.
import { DurableObject } from "cloudflare:workers";
import type { Limit, WindowState } from "../../core/access/window.ts";
import { bringUpToDate } from "../schema-steps.ts";
import { rateLimiterSteps } from "./migrations.ts";

export class RateLimiter extends DurableObject {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never);
    bringUpToDate(ctx.storage, rateLimiterSteps);
  }

  /** Counts one call at `now` (milliseconds), unless the window is full. */
  take(limit: Limit, now: number): WindowState {
    const { sql } = this.ctx.storage;
    const windowMs = limit.seconds * 1_000;
    // A call further ahead than a window was written by a clock that has since been set back; it would block for as long.
    sql.exec("DELETE FROM calls WHERE at <= ? OR at > ?", now - windowMs, now + windowMs);
    const { taken, oldest } = sql
      .exec<{ taken: number; oldest: number | null }>("SELECT COUNT(*) AS taken, MIN(at) AS oldest FROM calls")
      .one();
    const allowed = taken < limit.count;
    if (allowed) sql.exec("INSERT INTO calls (at) VALUES (?)", now);
    return { allowed, remaining: Math.max(0, limit.count - taken - (allowed ? 1 : 0)), resetMs: (oldest ?? now) + windowMs - now };
  }
}
