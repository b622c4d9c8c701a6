// What one isolate knows about the databases and journals that accept submissions. The current time is an argument of each method.
import type { ShardId } from "../ids.ts";
import { issuingRatio, type ShardFill } from "../shards/placement.ts";
import { minuteMs, secondMs, type Instant } from "../time.ts";
import type { JournalName } from "./journal-name.ts";

/**
 * The known state of a journal and its database:
 * - `well`: the database responded recently and the journal was empty. Submissions are written to the database.
 * - `away`: the database recently failed to respond, or the journal had entries. Submissions are written to the journal.
 * - `unknown`: there is no recent information. The caller must ask the journal for its number of entries.
 */
export type IntakeView = "well" | "away" | "unknown";

const wellMs = 5 * secondMs; // without a success in this time, other isolates may have started to use the journal
const awayMs = secondMs; // after this time, ask the journal again, so that submissions soon return to the database

// How long a shard's reported size is used. After that, the next submission is sent to the shard even if the shard was full, and the
// response reports the current size.
const sizeMs = minuteMs;
const fillsMs = minuteMs; // after an operator closes a shard, new certificates can still be issued in it for this long

const shardOf = (journal: JournalName): string => journal.slice(0, 2);

export class IntakeState {
  /** When to try each unavailable shard again. A shard is unavailable if its database did not respond. */
  readonly #silentUntil = new Map<string, Instant>();
  /** The last known state of each journal, and when that state expires. There are at most 32 entries per shard. */
  readonly #journals = new Map<JournalName, { readonly view: "well" | "away"; readonly until: Instant }>();

  /** The last reported size of each shard, and when that size expires. */
  readonly #sizes = new Map<ShardId, { readonly bytes: number; readonly until: Instant }>();

  /** The cached states and sizes of all shards, and when this cache expires. */
  #fills: { readonly fills: readonly ShardFill[]; readonly until: Instant } | null = null;

  getView(journal: JournalName, now: Instant): IntakeView {
    if (now < (this.#silentUntil.get(shardOf(journal)) ?? 0)) return "away";
    const known = this.#journals.get(journal);
    return known === undefined || now >= known.until ? "unknown" : known.view;
  }

  /** Records that the database responded to a submission. */
  recordAnswer(journal: JournalName, now: Instant): void {
    this.#journals.set(journal, { view: "well", until: now + wellMs });
  }

  /**
   * Records that the database did not respond. Submissions are then written to the shard's journals until each journal reports that it is
   * empty.
   */
  recordSilence(journal: JournalName, now: Instant): void {
    this.#silentUntil.set(shardOf(journal), now + awayMs);
    for (const name of this.#journals.keys()) if (shardOf(name) === shardOf(journal)) this.#journals.delete(name);
  }

  recordSize(shard: ShardId, bytes: number, now: Instant): void {
    this.#sizes.set(shard, { bytes, until: now + sizeMs });
  }

  /** Returns whether the shard is known to have no room for certificates. */
  isFull(shard: ShardId, maxBytes: number, now: Instant): boolean {
    return this.getSize(shard, now) >= issuingRatio * maxBytes;
  }

  /** Returns the last reported size of a shard; 0 if none was reported recently. */
  getSize(shard: ShardId, now: Instant): number {
    const known = this.#sizes.get(shard);
    return known !== undefined && now < known.until ? known.bytes : 0;
  }

  /** Returns the states and sizes of all shards; null if they must be read from the database. */
  getFills(now: Instant): readonly ShardFill[] | null {
    return this.#fills !== null && now < this.#fills.until ? this.#fills.fills : null;
  }

  recordFills(fills: readonly ShardFill[], now: Instant): void {
    this.#fills = { fills, until: now + fillsMs };
  }

  recordCount(journal: JournalName, pending: number, now: Instant): void {
    this.#journals.set(journal, pending === 0 ? { view: "well", until: now + wellMs } : { view: "away", until: now + awayMs });
  }
}
