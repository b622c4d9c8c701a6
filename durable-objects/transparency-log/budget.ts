// Limits how much of a log object's time anonymous readers may use. An object does one thing at a time, so readers compete with writers.
import { secondMs } from "../../core/time.ts";
import { textResponse } from "./responses.ts";

/** For proofs and cosignatures. Each takes up to 5 ms of hashing and requires no token. */
export const proofsPerSecond = 200;

export const tooManyRequestsResponse = (): Response =>
  textResponse(429, "Too many requests. Try again in a second.\n", { "Retry-After": "1" });

/** Counts within the current second, in memory. It only protects the object's time, so a restarted object may forget the count. */
export class Budget {
  readonly #perSecond: number;
  #second = 0;
  #used = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Returns true if `count` more fit into this second. A request larger than the whole budget fits into an unused second. */
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
