// How much of an object's second strangers may have. An object does one thing at a time, and behind a log stand those who write to it.
import { secondMs } from "../../core/time.ts";
import { textResponse } from "./responses.ts";

/** Proofs and cosignatures: up to 5 ms of hashing each, and no token is asked for. */
export const proofsPerSecond = 200;

export const tooManyRequestsResponse = (): Response => textResponse(429, "Too many requests just now.\n", { "Retry-After": "1" });

/** Counts within the current second, in memory: it protects the object's time, so an object that starts anew may forget it. */
export class Budget {
  readonly #perSecond: number;
  #second = 0;
  #used = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** True when `count` more fit into this second; a request that is larger than a whole second's share fits into an empty one. */
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
