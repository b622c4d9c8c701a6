// Keeps two things in this isolate's memory: which credentials were valid at their last lookup, and how many lookups are running for each
// IP address.
import { BoundedMap } from "../../core/bounded-map.ts";
import { secondMs, type Instant } from "../../core/time.ts";

const maxKnown = 10_000; // each entry takes about 100 bytes
const maxAddresses = 20_000;
/**
 * After this time, a lookup no longer counts as running. If the caller disconnects, `end` is never called, and the lookup would count
 * forever. The limit is longer than the database timeout.
 */
const maxLookupMs = 3 * secondMs;

export class CredentialLookups {
  readonly #known = new BoundedMap<string, true>(maxKnown);
  readonly #pending = new BoundedMap<string, Instant[]>(maxAddresses);

  /** Returns true if the credential with this hash was valid at its last lookup. */
  isKnown(hash: string): boolean {
    return this.#known.get(hash) === true;
  }

  /** Records the result of a lookup. If the map is full, drops the credential that was confirmed longest ago. */
  record(hash: string, isValid: boolean): void {
    if (isValid) this.#known.set(hash, true);
    else this.#known.delete(hash);
  }

  /** Starts a lookup and returns true. Returns false if `max` lookups from this address are already running. */
  start(address: string, max: number, now: Instant): boolean {
    const pending = (this.#pending.get(address) ?? []).filter((startedAt) => startedAt > now - maxLookupMs);
    if (pending.length >= max) return false;
    this.#pending.set(address, [...pending, now]);
    return true;
  }

  /** Ends the address's oldest lookup. */
  end(address: string): void {
    const [, ...others] = this.#pending.get(address) ?? [];
    if (others.length === 0) this.#pending.delete(address);
    else this.#pending.set(address, others);
  }
}
