// The sequence of a business's events: takes events from the outbox, gives each the next number exactly once, and serves them as a feed.
import type { StoredEvent } from "../../core/events/event.ts";
import type { EventSequenceOwner } from "../../core/events/event-sequence-name.ts";
import type { Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { deleteSequencedEvents, listWaitingEvents } from "../../storage/outboxes/events.ts";
import type { EventArchive } from "./archive.ts";
import { drainBackoff, logError, nextRetry, type RetryState } from "./faults.ts";
import * as tables from "./tables.ts";

export interface EventPage {
  readonly events: readonly StoredEvent[];
  /**
   * The last sequence number that this page covers: the number of its last event, or a later number if events of other types were skipped.
   */
  readonly readThrough: number;
  readonly head: number;
}

const rowsPerRead = 500;
const maxEventsSkipped = 20_000; // about ten milliseconds of reading, for a page of rare types; the cursor continues from there
const minDrainSpacingMs = 30; // at 50 events a second, two or three events share one push to each endpoint and one disk write there

export interface SequencePorts {
  readonly archive: EventArchive;
  readonly getOwner: () => EventSequenceOwner;
  /** Throws if the owner's database is not bound. */
  readonly openDatabase: () => Database;
  /** Runs synchronously after new events were stored. Resolves when the alarm for them is set. */
  readonly onAppended: () => Promise<void>;
  readonly scheduleNextAlarm: () => Promise<void>;
}

export class Sequence {
  readonly #storage: DurableObjectStorage;
  readonly #ports: SequencePorts;
  #head: number;
  #draining: Promise<void> | null = null;
  #lastPassAt = 0;
  /** Set by each call, because the current pass may have read before the caller's row was committed. */
  #isDrainRequested = false;
  #retry: RetryState | null = null;

  constructor(storage: DurableObjectStorage, ports: SequencePorts) {
    this.#storage = storage;
    this.#ports = ports;
    this.#head = tables.getHead(storage.sql);
  }

  /** The last sequence number assigned; 0 before the first. */
  get head(): number {
    return this.#head;
  }

  /** When a failed drain is retried; null if the last one succeeded. */
  get retryAt(): Instant | null {
    return this.#retry?.at ?? null;
  }

  /**
   * Appends everything that is waiting in the outbox. Concurrent calls share one drain. Never rejects: the alarm retries a failed drain.
   */
  drain(): Promise<void> {
    this.#isDrainRequested = true;
    this.#draining ??= this.#drainUntilIdle();
    return this.#draining;
  }

  async #drainUntilIdle(): Promise<void> {
    try {
      while (this.#isDrainRequested) {
        // Under load, passes are spaced out, so that events committed in between share one pass. A lone event never waits.
        const pauseMs = this.#lastPassAt + minDrainSpacingMs - Date.now();
        if (pauseMs > 0) await scheduler.wait(Math.min(pauseMs, minDrainSpacingMs));
        this.#lastPassAt = Date.now();
        this.#isDrainRequested = false;
        await this.#appendWaitingEvents();
        this.#retry = null;
        // The move is part of the drain, so that no event is looked up while it moves.
        const { archive, scheduleNextAlarm } = this.#ports;
        if ((await archive.moveBatch(this.#head)) && archive.getNextMoveAt(Date.now()) !== null) await scheduleNextAlarm();
      }
    } catch (error) {
      this.#retry = nextRetry(this.#retry, drainBackoff);
      logError("drain", error);
      await this.#ports.scheduleNextAlarm();
    } finally {
      this.#draining = null;
    }
  }

  /**
   * Reads and appends the events, then deletes them from the outbox. If the process crashes after appending, the rows are read again and
   * recognized. Rows are deleted by ID and are never skipped because of their age, because row numbers start over after a database restore.
   */
  async #appendWaitingEvents(): Promise<void> {
    const { archive, getOwner, openDatabase, onAppended } = this.#ports;
    const db = openDatabase();
    const owner = getOwner();
    for (;;) {
      const rows = await listWaitingEvents(db, owner, rowsPerRead);
      if (rows.length === 0) return;
      const fresh = await archive.excludeKnown(rows);
      // No await before onAppended, so the events and the alarm that hands them over are written together.
      this.#head = this.#storage.transactionSync(() => tables.appendEvents(this.#storage.sql, fresh, this.#head));
      await onAppended();
      await deleteSequencedEvents(
        db,
        owner.environment,
        rows.map(({ id }) => id),
      ).run();
      if (rows.length < rowsPerRead) return;
      await scheduler.wait(0); // lets other objects run, because in a local runtime they all share one thread
    }
  }

  /** Returns events after `cursor`. If there are none, responds from memory, so most polls cost nothing. */
  async listEvents(cursor: number, limit: number, types: readonly string[] | null): Promise<EventPage> {
    const head = this.#head;
    if (cursor >= head) return { events: [], readThrough: cursor, head };
    const upTo = types === null ? head : Math.min(head, cursor + maxEventsSkipped);
    const events = await this.#ports.archive.listEventsBetween(cursor, upTo, types, limit);
    const last = events.at(-1);
    return { events, readThrough: events.length === limit && last !== undefined ? last.seq : upTo, head };
  }
}
