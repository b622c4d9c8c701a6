// How one isolate sees the databases and journals that take in submissions. Times are arguments.
import type { ShardId } from "../ids.ts";
import { issuingRatio } from "../shards/placement.ts";
import { minuteMs, secondMs, type Instant } from "../time.ts";
import type { JournalName } from "./journal-name.ts";

/**
 * - well: the database answered recently and the journal was empty. Submissions go to the database.
 * - away: the database did not answer a moment ago, or the journal had entries. Submissions go to the journal.
 * - unknown: nothing recent is known. The journal is asked for the number of its entries.
 */
export type IntakeView = "well" | "away" | "unknown";

const wellMs = 5 * secondMs; // without a success for this long, another isolate may have started to journal
const awayMs = secondMs; // afterwards the journal is asked again, so that submissions return to the database soon

const sizeMs = minuteMs; // afterwards one submission is tried again, whose answer says whether there is room now

/** The first two characters of a journal's name. */
const shardOf = (journal: JournalName): string => journal.slice(0, 2);

export class IntakeState {
  /** Shards whose database was silent, until when they count as away. */
  readonly #silentUntil = new Map<string, Instant>();
  /** What is known about journals, until when it counts. At most 32 for each shard. */
  readonly #journals = new Map<JournalName, { readonly view: "well" | "away"; readonly until: Instant }>();

  /** The shards' sizes as last reported, until when they count. */
  readonly #sizes = new Map<ShardId, { readonly bytes: number; readonly until: Instant }>();

  getView(journal: JournalName, now: Instant): IntakeView {
    if (now < (this.#silentUntil.get(shardOf(journal)) ?? 0)) return "away";
    const known = this.#journals.get(journal);
    return known === undefined || now >= known.until ? "unknown" : known.view;
  }

  /** The database answered a submission. */
  recordAnswer(journal: JournalName, now: Instant): void {
    this.#journals.set(journal, { view: "well", until: now + wellMs });
  }

  /** The database did not answer. Every journal of the shard must be asked before it counts as empty again. */
  recordSilence(journal: JournalName, now: Instant): void {
    this.#silentUntil.set(shardOf(journal), now + awayMs);
    for (const name of this.#journals.keys()) if (shardOf(name) === shardOf(journal)) this.#journals.delete(name);
  }

  /** The database reported its size with an answer. */
  recordSize(shard: ShardId, bytes: number, now: Instant): void {
    this.#sizes.set(shard, { bytes, until: now + sizeMs });
  }

  /** Returns whether the shard is known to have no room for certificates. */
  isFull(shard: ShardId, maxBytes: number, now: Instant): boolean {
    const known = this.#sizes.get(shard);
    return known !== undefined && now < known.until && known.bytes >= issuingRatio * maxBytes;
  }

  /** The journal answered with the number of its entries. */
  recordCount(journal: JournalName, pending: number, now: Instant): void {
    this.#journals.set(journal, pending === 0 ? { view: "well", until: now + wellMs } : { view: "away", until: now + awayMs });
  }
}
