// Limits by address and by client, counted in this isolate. Not exact across the world: the platform's shield and many
// isolates stand around it. Exact limits (API keys) live in objects. Here a call must cost nothing: a certificate and a
// public page are answered through it.
import { BoundedMap } from "../../core/bounded-map.ts";
import type { RateLimit, RateLimitState } from "../../core/access/rate-limit.ts";

const maxKeys = 20_000; // about 20,000 x 60 timestamps x 8 bytes = 10 MB at the very worst

/** Sliding windows, one a key; the least recently used key is forgotten first. */
export class AddressWindows {
  readonly #calls = new BoundedMap<string, number[]>(maxKeys);

  take(key: string, limit: RateLimit, now: number): RateLimitState {
    const windowMs = limit.seconds * 1_000;
    const recent = this.#calls.get(key) ?? [];
    let expired = 0;
    while (expired < recent.length && (recent[expired] as number) <= now - windowMs) expired += 1;
    if (expired > 0) recent.splice(0, expired);
    const allowed = recent.length < limit.count;
    const calls = allowed && recent.length === 0 ? [now] : recent; // a push onto nothing makes room for seventeen, 20,000 times
    if (allowed && calls === recent) recent.push(now);
    this.#calls.set(key, calls);
    return { isAllowed: allowed, remaining: limit.count - calls.length, resetMs: (calls[0] ?? now) + windowMs - now };
  }
}
