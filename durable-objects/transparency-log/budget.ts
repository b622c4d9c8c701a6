// Limits the number of requests per second. A log handles one request at a time, so without a limit, anonymous readers could block the
// writer.
import { secondMs } from "../../core/time.ts";
import { textResponse } from "./responses.ts";

/** The limit for proofs and cosignatures, which require no token. Each takes up to 5 ms of hashing. */
export const proofsPerSecond = 200;

export const tooManyRequestsResponse = (): Response =>
  textResponse(429, "Too many requests. Try again in a second.\n", { "Retry-After": "1" });

/** Counts the uses within the current second. The count is only in memory, because losing it in a restart is harmless. */
export class Budget {
  readonly #perSecond: number;
  #second = 0;
  #used = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /**
   * Counts `count` uses and returns true if they fit within this second's limit. Otherwise, counts nothing and returns false. A request
   * that is larger than the whole limit is allowed if it is the first in a second.
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
