// A log that has grown to its limit hands the older half of its events to another object, a segment, and never touches that
// again: the newest events, the places and the endpoints stay where they are. Events go over some at a time, each lot first
// kept there and then forgotten here, so whoever dies in between sends a lot again that is known already. A segment is an
// object of the same class, named by its log and its number (`biz_…#1`), that is only ever given lots and read.
import type { StoredEvent } from "../../core/events/event.ts";
import { listEventsBetween, deleteEventsThrough, insertSegmentEvents } from "./tables.ts";

/** What a log asks of its segments. */
export interface Segment {
  /** Keeps a lot, each event once; answers how far the segment then reaches. */
  readonly saveToSegment: (events: readonly StoredEvent[]) => Promise<number>;
  readonly listSegmentEvents: (
    after: number,
    upTo: number,
    types: readonly string[] | null,
    limit: number,
  ) => Promise<readonly StoredEvent[]>;
  /** Which of these event ids it holds. */
  readonly listKnownIds: (ids: readonly string[]) => Promise<readonly string[]>;
}

/** Holds the places behind `after` up to `up_to`; those up to `moved` have gone over. */
type SegmentRow = { number: number; after: number; up_to: number; moved: number };

// 160 bytes an event without a payload: 50 million of them in eight gigabytes. Ten is what the platform gives an object.
const defaultLimitBytes = 8_000_000_000;
const eventsPerMove = 500;

const segmentSeparator = "#";
export const isSegmentName = (name: string): boolean => name.includes(segmentSeparator);

export const saveBatch = (storage: DurableObjectStorage, events: readonly StoredEvent[]): number =>
  storage.transactionSync(() => insertSegmentEvents(storage.sql, events));

export class SealedSegments {
  readonly #storage: DurableObjectStorage;
  readonly #openSegment: (number: number) => Segment;
  readonly #limitBytes: number;
  /** As the table has them, oldest first: asked for with every page, and changed here only. */
  #rows: readonly SegmentRow[] = [];

  /** `limitBytes` is a setting of development and arrives as text. */
  constructor(storage: DurableObjectStorage, segment: (name: string) => Segment, logName: () => string, limitBytes: unknown) {
    this.#storage = storage;
    this.#openSegment = (number) => segment(`${logName()}${segmentSeparator}${number}`);
    this.#limitBytes = Number(limitBytes ?? defaultLimitBytes);
    this.#loadRows();
  }

  #loadRows(): void {
    this.#rows = this.#storage.sql.exec<SegmentRow>("SELECT * FROM segment ORDER BY number").toArray();
  }

  #findFillingRow(): SegmentRow | null {
    return this.#rows.find(({ moved, up_to }) => moved < up_to) ?? null;
  }

  /** Whether a segment is still being filled. */
  get isSealing(): boolean {
    return this.#findFillingRow() !== null;
  }

  /** The events behind `after` up to `upTo`, wherever they lie. Rejects when a segment does not answer: a page has no holes. */
  async listEventsBetween(after: number, upTo: number, types: readonly string[] | null, limit: number): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let from = after; from < upTo && events.length < limit; ) {
      // Looked up again for each part, with nothing awaited before the part is read: meanwhile events may have gone over.
      const place = from;
      const segment = this.#rows.find(({ moved }) => place < moved);
      const end = Math.min(upTo, segment?.moved ?? upTo);
      const left = limit - events.length;
      const found =
        segment === undefined
          ? listEventsBetween(this.#storage.sql, from, end, types, left)
          : await this.#openSegment(segment.number).listSegmentEvents(from, end, types, left);
      events.push(...found);
      from = end;
    }
    return events;
  }

  /** Those of `events` that no segment holds. Not while a lot goes over: it might be asked for on neither side. */
  async excludeKnown<T extends { readonly id: string }>(events: readonly T[]): Promise<readonly T[]> {
    if (this.#rows.length === 0) return events;
    const ids = events.map(({ id }) => id);
    const found = await Promise.all(this.#rows.map(({ number }) => this.#openSegment(number).listKnownIds(ids)));
    const known = new Set(found.flat());
    return known.size === 0 ? events : events.filter(({ id }) => !known.has(id));
  }

  /** One lot of the segment that is being filled; a new one is begun when the log has reached its limit. */
  async sealBatch(head: number): Promise<void> {
    const { sql } = this.#storage;
    if (!this.isSealing && sql.databaseSize >= this.#limitBytes) this.#startSegment(head);
    const filling = this.#findFillingRow();
    if (filling === null) return;
    const lot = listEventsBetween(sql, filling.moved, filling.up_to, null, eventsPerMove);
    const last = lot.at(-1)?.seq ?? filling.up_to;
    if ((await this.#openSegment(filling.number).saveToSegment(lot)) < last) throw new Error("log: a segment did not keep its events");
    this.#storage.transactionSync(() => {
      deleteEventsThrough(sql, last);
      sql.exec("UPDATE segment SET moved = ? WHERE number = ?", last, filling.number);
    });
    this.#loadRows();
  }

  /** The older half, so that the log does not begin the next one at once. */
  #startSegment(head: number): void {
    const after = this.#rows.at(-1)?.up_to ?? 0;
    const upTo = after + Math.floor((head - after) / 2);
    if (upTo === after) return;
    this.#storage.sql.exec(
      "INSERT INTO segment (number, after, up_to, moved) VALUES (?, ?, ?, ?)",
      this.#rows.length + 1,
      after,
      upTo,
      after,
    );
    this.#loadRows();
  }
}
