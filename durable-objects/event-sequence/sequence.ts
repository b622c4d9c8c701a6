// The sequence of a business's events. It reads the events from the change logs, numbers each one exactly once, and serves them as a feed.
import type { StoredEvent } from "../../core/events/event.ts";
import type { ShardId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import type { ChangePosition } from "../../storage/changes.ts";
import { listEventsToPlace } from "../../storage/public-events.ts";
import { logError } from "../error-log.ts";
import type { EventArchive } from "./archive.ts";
import { drainBackoff, nextRetry, type RetryState } from "./retries.ts";
import * as tables from "./tables.ts";

export interface EventPage {
  readonly events: readonly StoredEvent[];
  /**
   * The cursor for the next page. It can be greater than the number of the page's last event, because events of other types are skipped.
   */
  readonly readThrough: number;
  readonly head: number;
}

const rowsPerRead = 500;
const maxEventsSkipped = 20_000; // per page; reading 20,000 rows takes about ten milliseconds
const minDrainSpacingMs = 30; // batches events under load: one push to each endpoint's queue, and one disk write in the queue

export interface SequencePorts {
  readonly archive: EventArchive;
  readonly getName: () => string;
  /** Opens the databases whose change logs contain the business's events. Rejects if one of them has no binding. */
  readonly openDatabases: () => Promise<readonly (readonly [ShardId, Database])[]>;
  /** Called immediately after events are stored, without an `await` in between. Resolves when the alarm for the events is set. */
  readonly onAppended: () => Promise<void>;
  readonly scheduleNextAlarm: () => Promise<void>;
}

export class Sequence {
  readonly #storage: DurableObjectStorage;
  readonly #ports: SequencePorts;
  #head: number;
  /**
   * The last change that this process has read in each shard. After a restart, the new process reads some changes again and skips the
   * events that are already stored.
   */
  readonly #lastRead = new Map<ShardId, ChangePosition>();
  #draining: Promise<boolean> | null = null;
  #lastPassAt = 0;
  /**
   * True if `drain` was called after the current pass started. Another pass is then needed, because the current one may have read the
   * change log before the caller committed.
   */
  #isDrainRequested = false;
  #retry: RetryState | null = null;

  constructor(storage: DurableObjectStorage, ports: SequencePorts) {
    this.#storage = storage;
    this.#ports = ports;
    this.#head = tables.getHead(storage.sql);
  }

  /** The last sequence number that was assigned, or 0 if none was. */
  get head(): number {
    return this.#head;
  }

  /** The time at which a failed drain is retried, or null if the last drain succeeded. */
  get retryAt(): Instant | null {
    return this.#retry?.at ?? null;
  }

  /**
   * Appends the events that were committed before the call. Concurrent calls share one run. Never rejects. If the events cannot be read,
   * resolves to false, and the alarm tries again.
   */
  drain(): Promise<boolean> {
    this.#isDrainRequested = true;
    this.#draining ??= this.#drainUntilIdle();
    return this.#draining;
  }

  async #drainUntilIdle(): Promise<boolean> {
    try {
      while (this.#isDrainRequested) {
        // Passes start at least 30 ms apart. If the last pass started longer ago, there is no wait.
        const pauseMs = this.#lastPassAt + minDrainSpacingMs - Date.now();
        if (pauseMs > 0) await scheduler.wait(Math.min(pauseMs, minDrainSpacingMs));
        this.#lastPassAt = Date.now();
        this.#isDrainRequested = false;
        await this.#appendWaitingEvents();
        this.#retry = null;
        // Events are moved to a segment only here, because none may move while `excludeKnown` runs.
        const { archive, scheduleNextAlarm } = this.#ports;
        if ((await archive.moveBatch(this.#head)) && archive.getNextMoveAt(Date.now()) !== null) await scheduleNextAlarm();
      }
      return true;
    } catch (error) {
      this.#retry = nextRetry(this.#retry, drainBackoff);
      logError("event-sequence.drain", error);
      await this.#ports.scheduleNextAlarm();
      return false;
    } finally {
      this.#draining = null;
    }
  }

  /** Appends the events of all shards. If a shard fails, continues with the others and then throws. */
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

  /**
   * Appends the events of one shard. After a restart or a database restore, some events are read again. They are recognized by their IDs
   * and skipped.
   */
  async #appendEventsOf(shard: ShardId, db: Database): Promise<void> {
    const { archive, getName, onAppended } = this.#ports;
    for (;;) {
      const rows = await listEventsToPlace(db, getName(), this.#lastRead.get(shard) ?? null, rowsPerRead);
      if (rows.length === 0) return;
      const fresh = await archive.excludeKnown(rows);
      // No `await` between storing the events and `onAppended`, so the events and the alarm for them are written together.
      this.#head = this.#storage.transactionSync(() => tables.appendEvents(this.#storage.sql, fresh, this.#head));
      this.#lastRead.set(shard, rows.at(-1) as ChangePosition);
      await onAppended();
      if (rows.length < rowsPerRead) return;
      await scheduler.wait(0); // all objects of a local runtime share one thread, so this lets other objects run
    }
  }

  /** Returns up to `limit` events after `cursor`. Reads no rows if there are no newer events. */
  async listEvents(cursor: number, limit: number, types: readonly string[] | null): Promise<EventPage> {
    const head = this.#head;
    if (cursor >= head) return { events: [], readThrough: cursor, head };
    const upTo = types === null ? head : Math.min(head, cursor + maxEventsSkipped);
    const events = await this.#ports.archive.listEventsBetween(cursor, upTo, types, limit);
    const last = events.at(-1);
    return { events, readThrough: events.length === limit && last !== undefined ? last.seq : upTo, head };
  }
}
