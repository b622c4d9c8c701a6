// One object a limited key: a sliding window kept as the log of the calls in it, so that no 60 seconds ever hold more
// calls than allowed (a fixed window would let twice as many through across its edge). The log is in storage, because an
// idle object forgets its memory within seconds; at most `count` rows exist.
import { DurableObject } from "cloudflare:workers";
import type { RateLimit, RateLimitState } from "../../core/access/rate-limit.ts";
import { migrateSchema } from "../schema-steps.ts";
import { rateLimiterSteps } from "./migrations.ts";

export class RateLimiter extends DurableObject {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never);
    migrateSchema(ctx.storage, rateLimiterSteps);
  }

  /** Counts calls that come together at `now` (milliseconds): all of them, or none where the window has no room for all. */
  take(limit: RateLimit, now: number, calls = 1): RateLimitState {
    const { sql } = this.ctx.storage;
    const windowMs = limit.seconds * 1_000;
    // A call further ahead than a window was written by a clock that has since been set back; it would block for as long.
    sql.exec("DELETE FROM calls WHERE at <= ? OR at > ?", now - windowMs, now + windowMs);
    const { taken } = sql.exec<{ taken: number }>("SELECT COUNT(*) AS taken FROM calls").one();
    const allowed = taken + calls <= limit.count;
    // The call whose leaving makes room: the oldest, or as many as there are too many.
    const waitsFor = Math.max(0, Math.min(taken, taken + calls - limit.count) - 1);
    const [leaving] = sql.exec<{ at: number }>("SELECT at FROM calls ORDER BY at LIMIT 1 OFFSET ?", waitsFor).toArray();
    if (allowed) for (let counted = 0; counted < calls; counted += 1) sql.exec("INSERT INTO calls (at) VALUES (?)", now);
    return {
      isAllowed: allowed,
      remaining: Math.max(0, limit.count - taken - (allowed ? calls : 0)),
      resetMs: (leaving?.at ?? now) + windowMs - now,
    };
  }
}
