// Rate limits for keys such as IP addresses, clients and hosts, counted in this isolate's memory. The counts differ between isolates and
// locations. Limits that must be exact, such as those for API keys, use a Durable Object instead. Counting here must cost almost nothing,
// because every submission and every view of a public page is counted.
import { BoundedMap } from "../../core/bounded-map.ts";
import type { RateLimit, RateLimitState } from "../../core/access/rate-limit.ts";

const maxKeys = 20_000; // 20,000 keys with 60 timestamps of 8 bytes each take at most 10 MB

/** Counts the calls for each key in a sliding window. Above `maxKeys`, drops the key that was passed to `take` least recently. */
export class AddressWindows {
  readonly #calls = new BoundedMap<string, number[]>(maxKeys);

  #listRecent(key: string, windowMs: number, now: number): number[] {
    const recent = this.#calls.get(key) ?? [];
    let expired = 0;
    while (expired < recent.length && (recent[expired] as number) <= now - windowMs) expired += 1;
    if (expired > 0) recent.splice(0, expired);
    return recent;
  }

  /** Returns the limit's current state without counting a call. */
  peek(key: string, limit: RateLimit, now: number): RateLimitState {
    const windowMs = limit.seconds * 1_000;
    const recent = this.#listRecent(key, windowMs, now);
    return { isAllowed: recent.length < limit.count, remaining: limit.count - recent.length, resetMs: (recent[0] ?? now) + windowMs - now };
  }

  /** Counts a call if the limit allows it. */
  take(key: string, limit: RateLimit, now: number): RateLimitState {
    const windowMs = limit.seconds * 1_000;
    const recent = this.#listRecent(key, windowMs, now);
    const allowed = recent.length < limit.count;
    // Starting with `[now]` saves memory. Pushing to an empty array would reserve space for 17 numbers per key.
    const calls = allowed && recent.length === 0 ? [now] : recent;
    if (allowed && calls === recent) recent.push(now);
    this.#calls.set(key, calls);
    return { isAllowed: allowed, remaining: limit.count - calls.length, resetMs: (calls[0] ?? now) + windowMs - now };
  }
}
