// Limits the calls for one key, with one object per key. The window slides, so no period of the window's length contains more calls than
// the limit. Fixed windows would allow twice as many calls around a boundary. The time of each call is stored on disk, because an idle
// object loses its memory within seconds. An alarm deletes the storage when all calls are older than the window. Otherwise, an object would
// remain for every address to which a code was ever sent.
import { DurableObject } from "cloudflare:workers";
import type { RateLimit, RateLimitState } from "../../core/access/rate-limit.ts";
import { secondMs } from "../../core/time.ts";
import { migrateSchema } from "../schema-steps.ts";
import { rateLimiterSteps } from "./migrations.ts";
import { countCalls, deleteCallsOutside, findCallTime, findLastCallTime, insertCall } from "./tables.ts";

const maxWindowMs = 100_000 * secondMs; // no setting allows a longer window

export class RateLimiter extends DurableObject {
  /** True if this process knows that the tables exist and that an alarm will delete them. */
  #isOpen = false;

  /** Counts `calls` calls if the limit allows all of them. Otherwise, counts none. */
  async take(limit: RateLimit, now: number, calls = 1): Promise<RateLimitState> {
    const { storage } = this.ctx;
    if (!this.#isOpen) migrateSchema(storage, rateLimiterSteps);
    const state = this.#count(storage.sql, limit, now, calls);
    if (!this.#isOpen && (await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + maxWindowMs);
    this.#isOpen = true;
    return state;
  }

  #count(sql: SqlStorage, limit: RateLimit, now: number, calls: number): RateLimitState {
    const windowMs = limit.seconds * secondMs;
    // Calls that are more than one window in the future were counted before the clock was set back. They are deleted, because they would
    // count for too long.
    deleteCallsOutside(sql, now - windowMs, now + windowMs);
    const taken = countCalls(sql);
    const isAllowed = taken + calls <= limit.count;
    // The newest of the calls that must leave the window before `calls` more fit. If they fit already, this is the oldest call.
    const leaving = findCallTime(sql, Math.max(0, Math.min(taken, taken + calls - limit.count) - 1));
    if (isAllowed) for (let counted = 0; counted < calls; counted += 1) insertCall(sql, now);
    return {
      isAllowed,
      remaining: Math.max(0, limit.count - taken - (isAllowed ? calls : 0)),
      resetMs: (leaving ?? now) + windowMs - now,
    };
  }

  override async alarm(): Promise<void> {
    const { storage } = this.ctx;
    migrateSchema(storage, rateLimiterSteps);
    const idleAt = (findLastCallTime(storage.sql) ?? 0) + maxWindowMs;
    this.#isOpen = idleAt > Date.now();
    await (this.#isOpen ? storage.setAlarm(idleAt) : storage.deleteAll());
  }
}
