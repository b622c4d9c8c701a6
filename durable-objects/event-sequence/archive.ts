// The archive of an event sequence. When a sequence reaches its size limit, it moves the older half of its events, in batches, to a
// segment. A segment is an object of the same class, named after the sequence (`biz_…#1`). Once all of these events have moved, the segment
// never changes. The segment stores a batch before the sequence deletes it. If the process dies in between, the sequence sends the batch
// again, and the segment ignores events that it already has.
import type { StoredEvent } from "../../core/events/event.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import { withDeadline } from "../../storage/database.ts";
import { logError } from "../error-log.ts";
import { drainBackoff, nextRetry, type RetryState } from "./retries.ts";
import * as tables from "./tables.ts";
import type { SegmentRow } from "./tables.ts";

/** The methods that a sequence calls on its segments. */
export interface Segment {
  /** Stores the events that the segment does not have yet. Returns the segment's last sequence number. */
  readonly saveToSegment: (events: readonly StoredEvent[]) => Promise<number>;
  readonly listSegmentEvents: (
    after: number,
    upTo: number,
    types: readonly string[] | null,
    limit: number,
  ) => Promise<readonly StoredEvent[]>;
  /** Returns which of the given event IDs the segment contains. */
  readonly listKnownIds: (ids: readonly string[]) => Promise<readonly string[]>;
}

// The platform limits an object to 10 GB. An event without a payload takes 160 bytes, so 8 GB is enough for 50 million such events.
const defaultLimitBytes = 8_000_000_000;
const eventsPerMove = 500;
const minMoveSpacingMs = 30;
const segmentTimeoutMs = 5 * secondMs; // a segment that hangs must not stop the sequence

const segmentSeparator = "#";
export const isSegmentName = (name: string): boolean => name.includes(segmentSeparator);

export class EventArchive {
  readonly #storage: DurableObjectStorage;
  readonly #callSegment: <T>(number: number, call: (segment: Segment) => Promise<T>) => Promise<T>;
  readonly #limitBytes: number;
  /** The rows of the segment table, oldest first. Cached in memory, because every call of `listEventsBetween` needs them. */
  #segments: readonly SegmentRow[];
  #retry: RetryState | null = null;

  /** `limitBytes` is set by an environment variable in development, so it can be text. */
  constructor(storage: DurableObjectStorage, openSegment: (name: string) => Segment, getSequenceName: () => string, limitBytes: unknown) {
    this.#storage = storage;
    this.#callSegment = (number, call) =>
      withDeadline(() => call(openSegment(`${getSequenceName()}${segmentSeparator}${number}`)), segmentTimeoutMs);
    this.#limitBytes = Number(limitBytes ?? defaultLimitBytes);
    this.#segments = tables.listSegments(storage.sql);
  }

  #findFillingSegment(): SegmentRow | null {
    return this.#segments.find(({ moved, up_to }) => moved < up_to) ?? null;
  }

  /**
   * Returns the events after `after` and up to `upTo`, from the sequence and its segments. Rejects if a segment does not respond, because a
   * page must not have gaps.
   */
  async listEventsBetween(after: number, upTo: number, types: readonly string[] | null, limit: number): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let from = after; from < upTo && events.length < limit; ) {
      // Events may move to a segment during each `await`, so look up the segment again before reading each part.
      const position = from;
      const segment = this.#segments.find(({ moved }) => position < moved);
      const end = Math.min(upTo, segment?.moved ?? upTo);
      const remaining = limit - events.length;
      const found =
        segment === undefined
          ? tables.listEventsBetween(this.#storage.sql, from, end, types, remaining)
          : await this.#callSegment(segment.number, async (opened) => opened.listSegmentEvents(position, end, types, remaining));
      events.push(...found);
      from = end;
    }
    return events;
  }

  /**
   * Returns the events that no segment contains. Must not run while a batch moves to a segment. Otherwise, an event could move after this
   * check and before the check of the sequence's own table, and would be numbered again.
   */
  async excludeKnown<T extends { readonly id: string }>(events: readonly T[]): Promise<readonly T[]> {
    if (this.#segments.length === 0) return events;
    const ids = events.map(({ id }) => id);
    const found = await Promise.all(
      this.#segments.map(({ number }) => this.#callSegment(number, async (segment) => segment.listKnownIds(ids))),
    );
    const known = new Set(found.flat());
    return known.size === 0 ? events : events.filter(({ id }) => !known.has(id));
  }

  /**
   * Moves one batch to a segment if the sequence is over its size limit or a segment is still being filled. If the segment fails, logs the
   * error and schedules a retry. Returns true if the result of `getNextMoveAt` may have changed.
   */
  async moveBatch(head: number): Promise<boolean> {
    if ((this.#retry?.at ?? 0) > Date.now()) return false;
    try {
      await this.#moveNextEvents(head);
      this.#retry = null;
    } catch (error) {
      this.#retry = nextRetry(this.#retry, drainBackoff);
      logError("event-sequence.archive", error);
    }
    return true;
  }

  /** Returns the time at which to move the next batch, or null if no segment is being filled. */
  getNextMoveAt(now: Instant): Instant | null {
    return this.#findFillingSegment() === null ? null : (this.#retry?.at ?? now + minMoveSpacingMs);
  }

  async #moveNextEvents(head: number): Promise<void> {
    const { sql } = this.#storage;
    if (this.#findFillingSegment() === null && sql.databaseSize >= this.#limitBytes) this.#startSegment(head);
    const filling = this.#findFillingSegment();
    if (filling === null) return;
    const events = tables.listEventsBetween(sql, filling.moved, filling.up_to, null, eventsPerMove);
    const last = events.at(-1)?.seq ?? filling.up_to;
    const stored = await this.#callSegment(filling.number, async (segment) => segment.saveToSegment(events));
    if (stored < last) throw new Error("segment did not store its events");
    this.#storage.transactionSync(() => tables.completeMove(sql, filling.number, last));
    this.#segments = tables.listSegments(sql);
  }

  /** Adds a segment for the older half of the sequence's events. */
  #startSegment(head: number): void {
    const { sql } = this.#storage;
    const after = this.#segments.at(-1)?.up_to ?? 0;
    const upTo = after + Math.floor((head - after) / 2);
    if (upTo === after) return;
    tables.insertSegment(sql, { number: this.#segments.length + 1, after, up_to: upTo, moved: after });
    this.#segments = tables.listSegments(sql);
  }
}
