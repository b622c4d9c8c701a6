// Limits how much of a log object's time anonymous readers can use. An object handles one request at a time, so readers compete with
// writers.
import { secondMs } from "../../core/time.ts";
import { textResponse } from "./responses.ts";

/** The limit for proofs and cosignatures. Each takes up to 5 ms of hashing and requires no token. */
export const proofsPerSecond = 200;

export const tooManyRequestsResponse = (): Response =>
  textResponse(429, "Too many requests. Try again in a second.\n", { "Retry-After": "1" });

/**
 * Counts within the current second, in memory. Losing the count in a restart is harmless, because the limit only protects the object's
 * time.
 */
export class Budget {
  readonly #perSecond: number;
  #second = 0;
  #used = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /**
   * Counts `count` more uses and returns true if they fit into this second. Otherwise, counts nothing and returns false. A request that is
   * larger than the whole budget fits into an unused second.
   */
  take(count: number, now: number): boolean {
    const second = Math.floor(now / secondMs);
    if (second !== this.#second) {
      this.#second = second;
      this.#used = 0;
    }
    if (this.#used > 0 && this.#used + count > this.#perSecond) return false;
    this.#used += count;
    return true;
  }
}
