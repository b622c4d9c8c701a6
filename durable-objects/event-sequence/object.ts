// One object a business: its events in one sequence without a gap, the feed of it, and the list of its endpoints. Events come
// from the outbox of the business's database, each takes the next place exactly once, and every endpoint's lane
// (endpoint-lane/object.ts) is handed what it has not seen. Whoever asks may die at any point: what is in the outbox is read again
// and found known, and an alarm armed with the events themselves hands them on. What is too old for one object lies in
// segments (sealed-segments.ts), which are objects of this class too. The sandbox of a business has a log of its own, named after it.
import { DurableObject } from "cloudflare:workers";
import { parseEventSequenceName, type EventSequenceOwner } from "../../core/events/event-sequence-name.ts";
import type { Database } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { backgroundTimeoutMs } from "../../storage/database.ts";
import { deleteSequencedEvents, listWaitingEvents } from "../../storage/outboxes/events.ts";
import type { StoredEvent } from "../../core/events/event.ts";
import { shardOfId } from "../../core/ids.ts";
import { canHoldDelivery, maxEndpoints, receivesEventType } from "../../core/webhooks/endpoint.ts";
import type {
  Delivery,
  Endpoint,
  EndpointChange,
  EndpointDelivery,
  EndpointHealth,
  EndpointSettings,
  NewEndpoint,
  AttemptOutcome,
  RecoveryResult,
  ReplaySource,
} from "../../core/webhooks/endpoint.ts";
import type { HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import { computeRetryDelayMs } from "../../core/retry.ts";
import { minuteMs, secondMs, type Instant } from "../../core/time.ts";
import { migrateSchema } from "../schema-steps.ts";
import { eventSequenceSteps } from "./migrations.ts";
import * as tables from "./tables.ts";
import type { EndpointRow } from "./tables.ts";
import type { DeliveryQueue } from "../delivery-queue/object.ts";
import { isSegmentName, saveBatch, SealedSegments } from "./sealed-segments.ts";

export interface EventSequenceEnv {
  readonly EVENT_SEQUENCE: DurableObjectNamespace<EventSequence>;
  readonly DELIVERY_QUEUE: DurableObjectNamespace<DeliveryQueue>;
  /** Bytes at which events go into a segment, where that must be seen with few of them. */
  readonly DEV_EVENT_SEQUENCE_BYTES?: unknown;
  readonly [name: string]: unknown;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** How far this page read: the place of its last event, or further where events of other types were passed over. */
  readonly readThrough: number;
  readonly head: number;
}

/** An endpoint with how it is doing; null where its lane did not answer. */
export interface EndpointState {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth | null;
}

const rowsPerRead = 500;
const rowsPerPush = 200;
// A page that asks for rare types reads this far and no further; the cursor goes on from there. Some ten milliseconds.
const maxEventsSkipped = 20_000;
const safetyAlarmMs = 15 * secondMs; // armed with the events: by then whoever was to hand them on has done so or died
const pushBackoff = { firstMs: 2 * secondMs, maxMs: minuteMs };
const minDrainSpacingMs = 30; // at fifty events a second, two or three share one push to each endpoint and one write to disk there
const drainBackoff = { firstMs: 5 * secondMs, maxMs: minuteMs };

/** Tries since the last success, and when to try again. */
interface RetryState {
  readonly failures: number;
  readonly at: Instant;
}

const nextRetry = (earlier: RetryState | null | undefined, backoff: typeof drainBackoff): RetryState => {
  const failures = (earlier?.failures ?? 0) + 1;
  return { failures, at: Date.now() + computeRetryDelayMs(backoff, failures) };
};

export class EventSequence<E extends EventSequenceEnv = EventSequenceEnv> extends DurableObject<E> {
  #head: number;
  #draining: Promise<void> | null = null;
  #lastDrainAt = 0;
  /** Somebody asked while a drain was under way: it may have looked before their row was there. */
  #drainRequestedAgain = false;
  #drainRetry: RetryState | null = null;
  readonly #segments: SealedSegments;
  #sealRetry: RetryState | null = null;
  /** When the alarm is set for, as far as this process knows. */
  #alarmAt: Instant | null = null;
  /** How far lanes have come, before it is written down; a lane knows it for good, so what is lost here is only asked again. */
  readonly #unsavedProgress = new Map<string, { readonly revision: number; readonly acked: number }>();
  readonly #pushing = new Map<string, Promise<void>>();
  readonly #pushRetries = new Map<string, RetryState>();

  constructor(ctx: DurableObjectState, env: E) {
    super(ctx, env);
    migrateSchema(ctx.storage, eventSequenceSteps);
    // An alarm may start the object without its name; what it is called is kept from the first time it is known.
    if (ctx.id.name !== undefined && tables.findName(ctx.storage.sql) === null) tables.saveName(ctx.storage.sql, ctx.id.name);
    this.#head = tables.getHead(ctx.storage.sql);
    this.#segments = new SealedSegments(
      ctx.storage,
      (name) => env.EVENT_SEQUENCE.getByName(name),
      () => this.#getName(),
      env.DEV_EVENT_SEQUENCE_BYTES,
    );
  }

  get #sql(): SqlStorage {
    return this.ctx.storage.sql;
  }

  #getName(): string {
    const name = tables.findName(this.#sql);
    if (name === null) throw new Error("log: the object is not named by its business");
    return name;
  }

  #getOwner(): EventSequenceOwner {
    return parseEventSequenceName(this.#getName());
  }

  #getDatabase(): Database {
    return openShards(this.env, backgroundTimeoutMs).get(shardOfId(this.#getOwner().businessId));
  }

  #deliveryQueue(endpointId: string): DurableObjectStub<DeliveryQueue> {
    return this.env.DELIVERY_QUEUE.getByName(endpointId);
  }

  #logError(at: string, error: unknown): void {
    console.error(JSON.stringify({ level: "error", at: `event-sequence.${at}`, error: error instanceof Error ? error.name : "unknown" }));
  }

  // The sequence

  /** Places whatever waits in the outbox and hands it to the lanes. Of many calls at once one works, and it works for all. */
  async drain(): Promise<void> {
    this.#drainRequestedAgain = true;
    this.#draining ??= this.#drainUntilIdle();
    await this.#draining;
    await Promise.all(this.#pushing.values());
  }

  async #drainUntilIdle(): Promise<void> {
    try {
      while (this.#drainRequestedAgain) {
        // Under load passes keep a distance, and what is committed meanwhile shares one: an event that comes alone waits for nothing.
        const pauseMs = this.#lastDrainAt + minDrainSpacingMs - Date.now();
        if (pauseMs > 0) await scheduler.wait(Math.min(pauseMs, minDrainSpacingMs));
        this.#lastDrainAt = Date.now();
        this.#drainRequestedAgain = false;
        await this.#drainOnce();
        this.#drainRetry = null;
        await this.#sealBatch();
      }
    } catch (error) {
      this.#drainRetry = nextRetry(this.#drainRetry, drainBackoff);
      this.#logError("drain", error);
      await this.#scheduleNextAlarm();
    } finally {
      this.#draining = null;
    }
  }

  /**
   * Read, place, forget. Dying after placing only means reading the rows again and finding them known. Rows are forgotten by
   * their ids, and nothing is passed over for being old: after a restore of the database its row numbers start again.
   */
  async #drainOnce(): Promise<void> {
    const db = this.#getDatabase();
    const owner = this.#getOwner();
    for (;;) {
      const rows = await listWaitingEvents(db, owner, rowsPerRead);
      if (rows.length === 0) return;
      const armed = this.#placeEvents(await this.#segments.excludeKnown(rows));
      this.#pushToAll();
      await armed;
      await deleteSequencedEvents(
        db,
        owner.environment,
        rows.map(({ id }) => id),
      ).run();
      if (rows.length < rowsPerRead) return;
      await scheduler.wait(0); // others have their turn: on a machine of one's own this object has one thread with all of them
    }
  }

  /** Events, what lanes have taken since, and the alarm that hands on the rest are one step: nothing awaits between them. */
  #placeEvents(rows: Parameters<typeof tables.placeEvents>[1]): Promise<void> {
    const { storage } = this.ctx;
    this.#head = storage.transactionSync(() => tables.placeEvents(storage.sql, rows, this.#head));
    this.#saveProgress();
    return this.#scheduleNextAlarm();
  }

  /**
   * Moves some events to a segment when there are too many here. Part of a drain, so that no event is looked for while it moves;
   * a segment that does not take them keeps nobody waiting.
   */
  async #sealBatch(): Promise<void> {
    if ((this.#sealRetry?.at ?? 0) > Date.now()) return;
    try {
      await this.#segments.sealBatch(this.#head);
      this.#sealRetry = null;
    } catch (error) {
      this.#sealRetry = nextRetry(this.#sealRetry, drainBackoff);
      this.#logError("seal", error);
    }
    if (this.#segments.isSealing) await this.#scheduleNextAlarm();
  }

  /** What follows `cursor`. Past the head nothing is read: most polls cost nothing. */
  async listEvents(cursor: number, limit: number, types: readonly string[] | null): Promise<EventPage> {
    const head = this.#head;
    if (cursor >= head) return { events: [], readThrough: cursor, head };
    const upTo = types === null ? head : Math.min(head, cursor + maxEventsSkipped);
    const events = await this.#segments.listEventsBetween(cursor, upTo, types, limit);
    const last = events.at(-1);
    return { events, readThrough: events.length === limit && last !== undefined ? last.seq : upTo, head };
  }

  // As a segment of another log

  #assertIsSegment(): void {
    if (!isSegmentName(this.#getName())) throw new Error("log: not a segment");
  }

  saveToSegment(events: readonly StoredEvent[]): number {
    this.#assertIsSegment();
    return saveBatch(this.ctx.storage, events);
  }

  listSegmentEvents(after: number, upTo: number, types: readonly string[] | null, limit: number): readonly StoredEvent[] {
    return tables.listEventsBetween(this.#sql, after, upTo, types, limit);
  }

  listKnownIds(ids: readonly string[]): readonly string[] {
    return tables.filterKnownIds(this.#sql, ids);
  }

  // Handing events to the lanes

  #isBehind(row: EndpointRow): boolean {
    return row.acked < this.#head || row.sent_revision < row.revision;
  }

  /** An endpoint as its row and what was not written down yet say. */
  #withUnsavedProgress(row: EndpointRow): EndpointRow {
    const served = this.#unsavedProgress.get(row.id);
    if (served === undefined) return row;
    return { ...row, sent_revision: Math.max(row.sent_revision, served.revision), acked: Math.max(row.acked, served.acked) };
  }

  #findEndpoint(id: string): EndpointRow | null {
    const row = tables.findEndpointRow(this.#sql, id);
    return row === null ? null : this.#withUnsavedProgress(row);
  }

  #listEndpoints(): readonly EndpointRow[] {
    return tables.listEndpointRows(this.#sql).map((row) => this.#withUnsavedProgress(row));
  }

  #saveProgress(): void {
    for (const [id, { revision, acked }] of this.#unsavedProgress) tables.updateProgress(this.#sql, id, revision, acked);
    this.#unsavedProgress.clear();
  }

  /** One push at a time for each lane; a lane that fails has its own pause and keeps no other waiting. */
  #pushToAll(): void {
    for (const row of this.#listEndpoints()) {
      if (!this.#isBehind(row) || this.#pushing.has(row.id)) continue;
      if ((this.#pushRetries.get(row.id)?.at ?? 0) > Date.now()) continue;
      this.#pushing.set(row.id, this.#pushUntilCaughtUp(row.id));
    }
  }

  async #pushUntilCaughtUp(endpointId: string): Promise<void> {
    try {
      for (let row = this.#findEndpoint(endpointId); row !== null && this.#isBehind(row); row = this.#findEndpoint(endpointId)) {
        await this.#pushBatch(row);
      }
      this.#pushRetries.delete(endpointId);
    } catch (error) {
      this.#pushRetries.set(endpointId, nextRetry(this.#pushRetries.get(endpointId), pushBackoff));
      this.#logError("push", error);
      await this.#scheduleNextAlarm();
    } finally {
      this.#pushing.delete(endpointId);
    }
  }

  async #pushBatch(row: EndpointRow): Promise<void> {
    const chosen = tables.selectedEventTypes(row);
    const upTo = Math.min(this.#head, row.acked + rowsPerPush);
    const events = (await this.#segments.listEventsBetween(row.acked, upTo, null, rowsPerPush)).filter(({ type }) =>
      receivesEventType(chosen, type),
    );
    if (events.length === 0 && row.sent_revision === row.revision) {
      this.#unsavedProgress.set(row.id, { revision: row.revision, acked: upTo });
      return;
    }
    const lane = this.#deliveryQueue(row.id);
    const settings = tables.toEndpointSettings(row, row.id, this.#getOwner().businessId);
    if (row.sent_revision === 0) await lane.open(settings, row.acked);
    const received = await lane.push(settings, events, upTo);
    if (received === null) throw new Error("log: a lane is not open");
    this.#unsavedProgress.set(row.id, { revision: row.revision, acked: received });
  }

  /**
   * Sees to it that an alarm comes while anything is left to do. It is not taken back when that is done: with the next events it
   * would be set again, and each of the two is a write; it comes, finds nothing and is gone.
   */
  #scheduleNextAlarm(): Promise<void> {
    const now = Date.now();
    const times = this.#listEndpoints()
      .filter((row) => this.#isBehind(row))
      .map((row) => this.#pushRetries.get(row.id)?.at ?? now + safetyAlarmMs);
    if (tables.listRemovedEndpoints(this.#sql).length > 0) times.push(now + safetyAlarmMs);
    if (this.#drainRetry !== null) times.push(this.#drainRetry.at);
    if (this.#segments.isSealing) times.push(this.#sealRetry?.at ?? now + minDrainSpacingMs);
    const next = Math.min(...times);
    if (times.length === 0 || (this.#alarmAt !== null && this.#alarmAt > now && this.#alarmAt <= next)) return Promise.resolve();
    this.#alarmAt = Math.max(now + 1, next);
    return this.ctx.storage.setAlarm(this.#alarmAt);
  }

  /** Never throws and never gives up: the platform retries a failing alarm six times and then forgets it. */
  override async alarm(): Promise<void> {
    try {
      this.#alarmAt = Date.now() + safetyAlarmMs;
      await this.ctx.storage.setAlarm(this.#alarmAt);
      for (const id of tables.listRemovedEndpoints(this.#sql)) await this.#finishRemoval(id);
      await this.drain();
      this.#pushToAll();
      await Promise.all(this.#pushing.values());
      this.#saveProgress();
      // Only the alarm set above: it may go, unless something is left that sets a time of its own.
      await this.ctx.storage.deleteAlarm();
      this.#alarmAt = null;
      await this.#scheduleNextAlarm();
    } catch (error) {
      this.#logError("alarm", error);
    }
  }

  // The endpoints

  /** False when the business has as many as it may. */
  async addEndpoint(endpoint: NewEndpoint): Promise<boolean> {
    if (tables.listEndpointRows(this.#sql).length >= maxEndpoints) return false;
    tables.insertEndpoint(this.#sql, endpoint, this.#head);
    await this.#pushChange(endpoint.id);
    return true;
  }

  /** Tells the lane of a change; when it cannot be told now, it is told by the alarm. */
  async #pushChange(endpointId: string): Promise<void> {
    await this.#scheduleNextAlarm();
    this.#pushToAll();
    await this.#pushing.get(endpointId);
  }

  async listEndpoints(): Promise<readonly EndpointState[]> {
    return Promise.all(tables.listEndpointRows(this.#sql).map((row) => this.#loadEndpointState(row)));
  }

  async findEndpoint(id: string): Promise<EndpointState | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    return row === null ? null : this.#loadEndpointState(row);
  }

  async #loadEndpointState(row: EndpointRow): Promise<EndpointState> {
    try {
      return { endpoint: tables.toEndpoint(row), health: await this.#deliveryQueue(row.id).getHealth() };
    } catch (error) {
      this.#logError("health", error);
      return { endpoint: tables.toEndpoint(row), health: null };
    }
  }

  /** Null when there is no such endpoint. */
  async updateEndpoint(id: string, change: EndpointChange): Promise<EndpointState | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null) return null;
    tables.updateEndpoint(this.#sql, row, change);
    await this.#pushChange(id);
    return this.findEndpoint(id);
  }

  /** Until when the earlier secret signs too; null when there is no such endpoint. The secret in force is put there once. */
  async rotateSecret(id: string, secret: { readonly sealed: string; readonly hint: string }, now: Instant): Promise<Instant | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null) return null;
    if (row.secret_sealed !== secret.sealed) tables.rotateSecret(this.#sql, id, secret, now);
    await this.#pushChange(id);
    return tables.findEndpointRow(this.#sql, id)?.earlier_until ?? null;
  }

  /** What is needed to send to an endpoint, its sealed secrets included. Null when there is no such endpoint. */
  findEndpointSettings(id: string): EndpointSettings | null {
    const row = tables.findEndpointRow(this.#sql, id);
    return row === null ? null : tables.toEndpointSettings(row, row.id, this.#getOwner().businessId);
  }

  /** When this returned, nothing more is sent but what was already under way. False when there is no such endpoint. */
  async removeEndpoint(id: string): Promise<boolean> {
    if (!tables.markEndpointRemoved(this.#sql, id)) return false;
    await this.#scheduleNextAlarm();
    await this.#finishRemoval(id);
    await this.#scheduleNextAlarm();
    return true;
  }

  async #finishRemoval(id: string): Promise<void> {
    await this.#pushing.get(id); // a push that came after the wipe would fill the lane again
    await this.#deliveryQueue(id).wipe();
    tables.deleteEndpoint(this.#sql, id);
    this.#unsavedProgress.delete(id);
    this.#pushRetries.delete(id);
  }

  // Deliveries

  /** Newest first; null when there is no such endpoint, or `before` is no delivery of it. */
  async listDeliveries(
    endpointId: string,
    limit: number,
    before: string | null,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly hasMore: boolean } | null> {
    return tables.findEndpointRow(this.#sql, endpointId) === null ? null : this.#deliveryQueue(endpointId).listDeliveries(limit, before);
  }

  /** To every endpoint, of the events behind `after`, up to `upTo`. An endpoint that does not answer is left out. */
  async listDeliveriesBetween(after: number, upTo: number): Promise<readonly EndpointDelivery[]> {
    const found = await Promise.allSettled(
      tables.listEndpointRows(this.#sql).map(({ id }) => this.#deliveryQueue(id).listDeliveriesBetween(after, upTo)),
    );
    return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  /** A delivery of any endpoint of this business, with what is needed to send it again. */
  async findReplaySource(deliveryId: string): Promise<ReplaySource | null> {
    const holders = tables.listEndpointRows(this.#sql).filter((row) => canHoldDelivery(row.id, deliveryId));
    const found = await Promise.all(holders.map((row) => this.#deliveryQueue(row.id).findReplaySource(deliveryId)));
    return found.find((source) => source !== null) ?? null;
  }

  /** Null when there is no such endpoint. */
  async listAttemptHours(endpointId: string, since: Instant): Promise<readonly HourlyAttempts[] | null> {
    return tables.findEndpointRow(this.#sql, endpointId) === null ? null : this.#deliveryQueue(endpointId).listAttemptHours(since);
  }

  /** Null when there is no such endpoint. */
  async countFailedSince(endpointId: string, since: Instant): Promise<number | null> {
    return tables.findEndpointRow(this.#sql, endpointId) === null ? null : this.#deliveryQueue(endpointId).countFailedSince(since);
  }

  /** Null when there is no such endpoint. */
  async recoverFailed(endpointId: string, since: Instant): Promise<RecoveryResult | null> {
    return tables.findEndpointRow(this.#sql, endpointId) === null ? null : this.#deliveryQueue(endpointId).recoverFailed(since);
  }

  async saveReplay(endpointId: string, deliveryId: string, outcome: AttemptOutcome): Promise<Delivery | null> {
    return tables.findEndpointRow(this.#sql, endpointId) === null ? null : this.#deliveryQueue(endpointId).saveReplay(deliveryId, outcome);
  }
}
