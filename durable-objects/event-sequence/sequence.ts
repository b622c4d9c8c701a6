// The sequence of a business's events. It reads the events from the change log, gives each one the next number exactly once, and serves
// them as a feed.
import type { StoredEvent } from "../../core/events/event.ts";
import type { ShardId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import type { ChangePosition } from "../../storage/changes.ts";
import { listEventsToPlace } from "../../storage/public-events.ts";
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
const maxEventsSkipped = 20_000; // about ten milliseconds of reading, for a page of rare types; the cursor then continues from there
const minDrainSpacingMs = 30; // at 50 events a second, two or three events share one push to each endpoint and one disk write in its queue

export interface SequencePorts {
  readonly archive: EventArchive;
  readonly getName: () => string;
  /** Opens the databases that contain the change logs, the account's database first. Throws if one of them is not bound. */
  readonly openDatabases: () => Promise<readonly (readonly [ShardId, Database])[]>;
  /** Runs synchronously after new events were stored. Resolves when the alarm for them is set. */
  readonly onAppended: () => Promise<void>;
  readonly scheduleNextAlarm: () => Promise<void>;
}

export class Sequence {
  readonly #storage: DurableObjectStorage;
  readonly #ports: SequencePorts;
  #head: number;
  /**
   * The last change of each shard that this object has read since it started. After a restart, the object reads some changes again and
   * recognizes them.
   */
  readonly #lastRead = new Map<ShardId, ChangePosition>();
  #draining: Promise<boolean> | null = null;
  #lastPassAt = 0;
  /** Each call sets this to true, because the current pass may have read before the caller's row was committed. */
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

  /** When a failed drain is retried; null if the last drain succeeded. */
  get retryAt(): Instant | null {
    return this.#retry?.at ?? null;
  }

  /**
   * Appends every event that was committed before the call. Concurrent calls share one drain. Never rejects: resolves to false after a
   * failure, and the alarm tries again.
   */
  drain(): Promise<boolean> {
    this.#isDrainRequested = true;
    this.#draining ??= this.#drainUntilIdle();
    return this.#draining;
  }

  async #drainUntilIdle(): Promise<boolean> {
    try {
      while (this.#isDrainRequested) {
        // Under load, passes are spaced out, so that events committed in between share one pass. A lone event never waits.
        const pauseMs = this.#lastPassAt + minDrainSpacingMs - Date.now();
        if (pauseMs > 0) await scheduler.wait(Math.min(pauseMs, minDrainSpacingMs));
        this.#lastPassAt = Date.now();
        this.#isDrainRequested = false;
        await this.#appendWaitingEvents();
        this.#retry = null;
        // A batch moves within the drain, so that no event is looked up while it moves.
        const { archive, scheduleNextAlarm } = this.#ports;
        if ((await archive.moveBatch(this.#head)) && archive.getNextMoveAt(Date.now()) !== null) await scheduleNextAlarm();
      }
      return true;
    } catch (error) {
      this.#retry = nextRetry(this.#retry, drainBackoff);
      logError("drain", error);
      await this.#ports.scheduleNextAlarm();
      return false;
    } finally {
      this.#draining = null;
    }
  }

  /** Reads and appends the events of all shards. If one shard fails, the events of the others are appended first. */
  async #appendWaitingEvents(): Promise<void> {
    const failures: unknown[] = [];
    for (const [shard, db] of await this.#ports.openDatabases()) {
      try {
        await this.#appendEventsOf(shard, db);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Reads and appends the events of one shard. Events that are read again after a crash or a database restore are recognized by their IDs. */
  async #appendEventsOf(shard: ShardId, db: Database): Promise<void> {
    const { archive, getName, onAppended } = this.#ports;
    for (;;) {
      const rows = await listEventsToPlace(db, getName(), this.#lastRead.get(shard) ?? null, rowsPerRead);
      if (rows.length === 0) return;
      const fresh = await archive.excludeKnown(rows);
      // There is no await before onAppended, so the events and the alarm for them are written together.
      this.#head = this.#storage.transactionSync(() => tables.appendEvents(this.#storage.sql, fresh, this.#head));
      this.#lastRead.set(shard, rows.at(-1) as ChangePosition);
      await onAppended();
      if (rows.length < rowsPerRead) return;
      await scheduler.wait(0); // lets other objects run, because all objects of a local runtime share one thread
    }
  }

  /** Returns events after `cursor`. If there are none, responds from memory, so that most polls read no rows. */
  async listEvents(cursor: number, limit: number, types: readonly string[] | null): Promise<EventPage> {
    const head = this.#head;
    if (cursor >= head) return { events: [], readThrough: cursor, head };
    const upTo = types === null ? head : Math.min(head, cursor + maxEventsSkipped);
    const events = await this.#ports.archive.listEventsBetween(cursor, upTo, types, limit);
    const last = events.at(-1);
    return { events, readThrough: events.length === limit && last !== undefined ? last.seq : upTo, head };
  }
}
