// One object a business: its events in one sequence without a gap, the feed of it, and the list of its endpoints. Events come
// from the outbox of the business's database, each takes the next place exactly once, and every endpoint's lane
// (endpoint-lane/object.ts) is handed what it has not seen. Whoever asks may die at any point: what is in the outbox is read again
// and found known, and an alarm armed with the events themselves hands them on. What is too old for one object lies in
// segments (sealed-segments.ts), which are objects of this class too. The sandbox of a business has a log of its own, named after it.
import { DurableObject } from "cloudflare:workers";
import { ownerOfLog, type LogOwner } from "../../core/events/log-name.ts";
import type { Database } from "../../storage/database.ts";
import { homesOf } from "../../storage/homes.ts";
import { backgroundMs } from "../../storage/database.ts";
import { forgetPlacedEvents, waitingEvents } from "../../storage/outboxes/events.ts";
import type { StoredEvent } from "../../core/events/event.ts";
import { homeOfId } from "../../core/ids.ts";
import { mayHold, maxEndpoints, receives } from "../../core/webhooks/endpoint.ts";
import type {
  Delivery,
  Endpoint,
  EndpointChange,
  EndpointDelivery,
  EndpointHealth,
  EndpointSettings,
  NewEndpoint,
  Outcome,
  Recovery,
  ReplaySource,
} from "../../core/webhooks/endpoint.ts";
import type { CountedHour } from "../../core/webhooks/hours.ts";
import { retryDelayMs } from "../../core/retry.ts";
import { minuteMs, secondMs, type Instant } from "../../core/time.ts";
import { bringUpToDate } from "../schema-steps.ts";
import { businessLogSteps } from "./migrations.ts";
import * as tables from "./tables.ts";
import type { EndpointRow } from "./tables.ts";
import type { EndpointLane } from "../endpoint-lane/object.ts";
import { isSegmentName, keepLot, SealedSegments } from "./sealed-segments.ts";

export interface BusinessLogEnv {
  readonly BUSINESS_LOG: DurableObjectNamespace<BusinessLog>;
  readonly ENDPOINT_LANE: DurableObjectNamespace<EndpointLane>;
  /** Bytes at which events go into a segment, where that must be seen with few of them. */
  readonly DEV_EVENT_LOG_BYTES?: unknown;
  readonly [name: string]: unknown;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** How far this page read: the place of its last event, or further where events of other types were passed over. */
  readonly readTo: number;
  readonly head: number;
}

/** An endpoint with how it is doing; null where its lane did not answer. */
export interface EndpointState {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth | null;
}

const rowsARead = 500;
const rowsAPush = 200;
// A page that asks for rare types reads this far and no further; the cursor goes on from there. Some ten milliseconds.
const maxPassedOver = 20_000;
const safetyMs = 15 * secondMs; // armed with the events: by then whoever was to hand them on has done so or died
const pushBackoff = { firstMs: 2 * secondMs, maxMs: minuteMs };
const betweenDrainsMs = 30; // at fifty events a second, two or three share one push to each endpoint and one write to disk there
const drainBackoff = { firstMs: 5 * secondMs, maxMs: minuteMs };

/** Tries since the last success, and when to try again. */
interface Retry {
  readonly failures: number;
  readonly at: Instant;
}

const failedAgain = (earlier: Retry | null | undefined, backoff: typeof drainBackoff): Retry => {
  const failures = (earlier?.failures ?? 0) + 1;
  return { failures, at: Date.now() + retryDelayMs(backoff, failures) };
};

export class BusinessLog<E extends BusinessLogEnv = BusinessLogEnv> extends DurableObject<E> {
  #head: number;
  #draining: Promise<void> | null = null;
  #lastDrain = 0;
  /** Somebody asked while a drain was under way: it may have looked before their row was there. */
  #askedAgain = false;
  #drainRetry: Retry | null = null;
  readonly #segments: SealedSegments;
  #sealRetry: Retry | null = null;
  /** When the alarm is set for, as far as this process knows. */
  #armedFor: Instant | null = null;
  /** How far lanes have come, before it is written down; a lane knows it for good, so what is lost here is only asked again. */
  readonly #served = new Map<string, { readonly revision: number; readonly acked: number }>();
  readonly #pushing = new Map<string, Promise<void>>();
  readonly #pushRetries = new Map<string, Retry>();

  constructor(ctx: DurableObjectState, env: E) {
    super(ctx, env);
    bringUpToDate(ctx.storage, businessLogSteps);
    // An alarm may start the object without its name; what it is called is kept from the first time it is known.
    if (ctx.id.name !== undefined && tables.keptName(ctx.storage.sql) === null) tables.keepName(ctx.storage.sql, ctx.id.name);
    this.#head = tables.headOf(ctx.storage.sql);
    this.#segments = new SealedSegments(
      ctx.storage,
      (name) => env.BUSINESS_LOG.getByName(name),
      () => this.#name(),
      env.DEV_EVENT_LOG_BYTES,
    );
  }

  get #sql(): SqlStorage {
    return this.ctx.storage.sql;
  }

  #name(): string {
    const name = tables.keptName(this.#sql);
    if (name === null) throw new Error("log: the object is not named by its business");
    return name;
  }

  #owner(): LogOwner {
    return ownerOfLog(this.#name());
  }

  #db(): Database {
    return homesOf(this.env, backgroundMs).at(homeOfId(this.#owner().businessId));
  }

  #lane(endpointId: string): DurableObjectStub<EndpointLane> {
    return this.env.ENDPOINT_LANE.getByName(endpointId);
  }

  #fault(at: string, error: unknown): void {
    console.error(JSON.stringify({ level: "error", at: `business-log.${at}`, error: error instanceof Error ? error.name : "unknown" }));
  }

  // The sequence

  /** Places whatever waits in the outbox and hands it to the lanes. Of many calls at once one works, and it works for all. */
  async drain(): Promise<void> {
    this.#askedAgain = true;
    this.#draining ??= this.#drainWhileAsked();
    await this.#draining;
    await Promise.all(this.#pushing.values());
  }

  async #drainWhileAsked(): Promise<void> {
    try {
      while (this.#askedAgain) {
        // Under load passes keep a distance, and what is committed meanwhile shares one: an event that comes alone waits for nothing.
        const pauseMs = this.#lastDrain + betweenDrainsMs - Date.now();
        if (pauseMs > 0) await scheduler.wait(Math.min(pauseMs, betweenDrainsMs));
        this.#lastDrain = Date.now();
        this.#askedAgain = false;
        await this.#drainOnce();
        this.#drainRetry = null;
        await this.#sealSome();
      }
    } catch (error) {
      this.#drainRetry = failedAgain(this.#drainRetry, drainBackoff);
      this.#fault("drain", error);
      await this.#armNext();
    } finally {
      this.#draining = null;
    }
  }

  /**
   * Read, place, forget. Dying after placing only means reading the rows again and finding them known. Rows are forgotten by
   * their ids, and nothing is passed over for being old: after a restore of the database its row numbers start again.
   */
  async #drainOnce(): Promise<void> {
    const db = this.#db();
    const owner = this.#owner();
    for (;;) {
      const rows = await waitingEvents(db, owner, rowsARead);
      if (rows.length === 0) return;
      const armed = this.#place(await this.#segments.unknown(rows));
      this.#serveAll();
      await armed;
      await forgetPlacedEvents(
        db,
        owner.environment,
        rows.map(({ id }) => id),
      ).run();
      if (rows.length < rowsARead) return;
      await scheduler.wait(0); // others have their turn: on a machine of one's own this object has one thread with all of them
    }
  }

  /** Events, what lanes have taken since, and the alarm that hands on the rest are one step: nothing awaits between them. */
  #place(rows: Parameters<typeof tables.placeEvents>[1]): Promise<void> {
    const { storage } = this.ctx;
    this.#head = storage.transactionSync(() => tables.placeEvents(storage.sql, rows, this.#head));
    this.#noteServed();
    return this.#armNext();
  }

  /**
   * Moves some events to a segment when there are too many here. Part of a drain, so that no event is looked for while it moves;
   * a segment that does not take them keeps nobody waiting.
   */
  async #sealSome(): Promise<void> {
    if ((this.#sealRetry?.at ?? 0) > Date.now()) return;
    try {
      await this.#segments.sealSome(this.#head);
      this.#sealRetry = null;
    } catch (error) {
      this.#sealRetry = failedAgain(this.#sealRetry, drainBackoff);
      this.#fault("seal", error);
    }
    if (this.#segments.isSealing) await this.#armNext();
  }

  /** What follows `cursor`. Past the head nothing is read: most polls cost nothing. */
  async page(cursor: number, limit: number, types: readonly string[] | null): Promise<EventPage> {
    const head = this.#head;
    if (cursor >= head) return { events: [], readTo: cursor, head };
    const upTo = types === null ? head : Math.min(head, cursor + maxPassedOver);
    const events = await this.#segments.between(cursor, upTo, types, limit);
    const last = events.at(-1);
    return { events, readTo: events.length === limit && last !== undefined ? last.seq : upTo, head };
  }

  // As a segment of another log

  #isSegment(): void {
    if (!isSegmentName(this.#name())) throw new Error("log: not a segment");
  }

  keepSegment(events: readonly StoredEvent[]): number {
    this.#isSegment();
    return keepLot(this.ctx.storage, events);
  }

  segmentEvents(after: number, upTo: number, types: readonly string[] | null, limit: number): readonly StoredEvent[] {
    return tables.eventsBetween(this.#sql, after, upTo, types, limit);
  }

  segmentKnows(ids: readonly string[]): readonly string[] {
    return tables.idsAmong(this.#sql, ids);
  }

  // Handing events to the lanes

  #isBehind(row: EndpointRow): boolean {
    return row.acked < this.#head || row.sent_revision < row.revision;
  }

  /** An endpoint as its row and what was not written down yet say. */
  #known(row: EndpointRow): EndpointRow {
    const served = this.#served.get(row.id);
    if (served === undefined) return row;
    return { ...row, sent_revision: Math.max(row.sent_revision, served.revision), acked: Math.max(row.acked, served.acked) };
  }

  #endpoint(id: string): EndpointRow | null {
    const row = tables.endpointRow(this.#sql, id);
    return row === null ? null : this.#known(row);
  }

  #endpoints(): readonly EndpointRow[] {
    return tables.endpointRows(this.#sql).map((row) => this.#known(row));
  }

  #noteServed(): void {
    for (const [id, { revision, acked }] of this.#served) tables.noteServed(this.#sql, id, revision, acked);
    this.#served.clear();
  }

  /** One push at a time for each lane; a lane that fails has its own pause and keeps no other waiting. */
  #serveAll(): void {
    for (const row of this.#endpoints()) {
      if (!this.#isBehind(row) || this.#pushing.has(row.id)) continue;
      if ((this.#pushRetries.get(row.id)?.at ?? 0) > Date.now()) continue;
      this.#pushing.set(row.id, this.#serve(row.id));
    }
  }

  async #serve(endpointId: string): Promise<void> {
    try {
      for (let row = this.#endpoint(endpointId); row !== null && this.#isBehind(row); row = this.#endpoint(endpointId)) {
        await this.#serveSome(row);
      }
      this.#pushRetries.delete(endpointId);
    } catch (error) {
      this.#pushRetries.set(endpointId, failedAgain(this.#pushRetries.get(endpointId), pushBackoff));
      this.#fault("push", error);
      await this.#armNext();
    } finally {
      this.#pushing.delete(endpointId);
    }
  }

  async #serveSome(row: EndpointRow): Promise<void> {
    const chosen = tables.chosenEvents(row);
    const upTo = Math.min(this.#head, row.acked + rowsAPush);
    const events = (await this.#segments.between(row.acked, upTo, null, rowsAPush)).filter(({ type }) => receives(chosen, type));
    if (events.length === 0 && row.sent_revision === row.revision) {
      this.#served.set(row.id, { revision: row.revision, acked: upTo });
      return;
    }
    const lane = this.#lane(row.id);
    const settings = tables.settingsOf(row, row.id, this.#owner().businessId);
    if (row.sent_revision === 0) await lane.open(settings, row.acked);
    const received = await lane.push(settings, events, upTo);
    if (received === null) throw new Error("log: a lane is not open");
    this.#served.set(row.id, { revision: row.revision, acked: received });
  }

  /**
   * Sees to it that an alarm comes while anything is left to do. It is not taken back when that is done: with the next events it
   * would be set again, and each of the two is a write; it comes, finds nothing and is gone.
   */
  #armNext(): Promise<void> {
    const now = Date.now();
    const times = this.#endpoints()
      .filter((row) => this.#isBehind(row))
      .map((row) => this.#pushRetries.get(row.id)?.at ?? now + safetyMs);
    if (tables.removedEndpoints(this.#sql).length > 0) times.push(now + safetyMs);
    if (this.#drainRetry !== null) times.push(this.#drainRetry.at);
    if (this.#segments.isSealing) times.push(this.#sealRetry?.at ?? now + betweenDrainsMs);
    const next = Math.min(...times);
    if (times.length === 0 || (this.#armedFor !== null && this.#armedFor > now && this.#armedFor <= next)) return Promise.resolve();
    this.#armedFor = Math.max(now + 1, next);
    return this.ctx.storage.setAlarm(this.#armedFor);
  }

  /** Never throws and never gives up: the platform retries a failing alarm six times and then forgets it. */
  override async alarm(): Promise<void> {
    try {
      this.#armedFor = Date.now() + safetyMs;
      await this.ctx.storage.setAlarm(this.#armedFor);
      for (const id of tables.removedEndpoints(this.#sql)) await this.#finishRemoval(id);
      await this.drain();
      this.#serveAll();
      await Promise.all(this.#pushing.values());
      this.#noteServed();
      // Only the alarm set above: it may go, unless something is left that sets a time of its own.
      await this.ctx.storage.deleteAlarm();
      this.#armedFor = null;
      await this.#armNext();
    } catch (error) {
      this.#fault("alarm", error);
    }
  }

  // The endpoints

  /** False when the business has as many as it may. */
  async addEndpoint(endpoint: NewEndpoint): Promise<boolean> {
    if (tables.endpointRows(this.#sql).length >= maxEndpoints) return false;
    tables.insertEndpoint(this.#sql, endpoint, this.#head);
    await this.#told(endpoint.id);
    return true;
  }

  /** Tells the lane of a change; when it cannot be told now, it is told by the alarm. */
  async #told(endpointId: string): Promise<void> {
    await this.#armNext();
    this.#serveAll();
    await this.#pushing.get(endpointId);
  }

  async endpoints(): Promise<readonly EndpointState[]> {
    return Promise.all(tables.endpointRows(this.#sql).map((row) => this.#stateOf(row)));
  }

  async endpoint(id: string): Promise<EndpointState | null> {
    const row = tables.endpointRow(this.#sql, id);
    return row === null ? null : this.#stateOf(row);
  }

  async #stateOf(row: EndpointRow): Promise<EndpointState> {
    try {
      return { endpoint: tables.endpointOf(row), health: await this.#lane(row.id).health() };
    } catch (error) {
      this.#fault("health", error);
      return { endpoint: tables.endpointOf(row), health: null };
    }
  }

  /** Null when there is no such endpoint. */
  async changeEndpoint(id: string, change: EndpointChange): Promise<EndpointState | null> {
    const row = tables.endpointRow(this.#sql, id);
    if (row === null) return null;
    tables.changeEndpoint(this.#sql, row, change);
    await this.#told(id);
    return this.endpoint(id);
  }

  /** Until when the earlier secret signs too; null when there is no such endpoint. The secret in force is put there once. */
  async rotateSecret(id: string, secret: { readonly sealed: string; readonly hint: string }, now: Instant): Promise<Instant | null> {
    const row = tables.endpointRow(this.#sql, id);
    if (row === null) return null;
    if (row.secret_sealed !== secret.sealed) tables.rotateSecret(this.#sql, id, secret, now);
    await this.#told(id);
    return tables.endpointRow(this.#sql, id)?.earlier_until ?? null;
  }

  /** What is needed to send to an endpoint, its sealed secrets included. Null when there is no such endpoint. */
  settings(id: string): EndpointSettings | null {
    const row = tables.endpointRow(this.#sql, id);
    return row === null ? null : tables.settingsOf(row, row.id, this.#owner().businessId);
  }

  /** When this returned, nothing more is sent but what was already under way. False when there is no such endpoint. */
  async removeEndpoint(id: string): Promise<boolean> {
    if (!tables.markRemoved(this.#sql, id)) return false;
    await this.#armNext();
    await this.#finishRemoval(id);
    await this.#armNext();
    return true;
  }

  async #finishRemoval(id: string): Promise<void> {
    await this.#pushing.get(id); // a push that came after the wipe would fill the lane again
    await this.#lane(id).wipe();
    tables.dropEndpoint(this.#sql, id);
    this.#served.delete(id);
    this.#pushRetries.delete(id);
  }

  // Deliveries

  /** Newest first; null when there is no such endpoint, or `before` is no delivery of it. */
  async deliveries(
    endpointId: string,
    limit: number,
    before: string | null,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly hasMore: boolean } | null> {
    return tables.endpointRow(this.#sql, endpointId) === null ? null : this.#lane(endpointId).deliveries(limit, before);
  }

  /** To every endpoint, of the events behind `after`, up to `upTo`. An endpoint that does not answer is left out. */
  async deliveriesOf(after: number, upTo: number): Promise<readonly EndpointDelivery[]> {
    const found = await Promise.allSettled(tables.endpointRows(this.#sql).map(({ id }) => this.#lane(id).deliveriesBetween(after, upTo)));
    return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  /** A delivery of any endpoint of this business, with what is needed to send it again. */
  async replaySource(deliveryId: string): Promise<ReplaySource | null> {
    const holders = tables.endpointRows(this.#sql).filter((row) => mayHold(row.id, deliveryId));
    const found = await Promise.all(holders.map((row) => this.#lane(row.id).replaySource(deliveryId)));
    return found.find((source) => source !== null) ?? null;
  }

  /** Null when there is no such endpoint. */
  async attemptHours(endpointId: string, since: Instant): Promise<readonly CountedHour[] | null> {
    return tables.endpointRow(this.#sql, endpointId) === null ? null : this.#lane(endpointId).attemptHours(since);
  }

  /** Null when there is no such endpoint. */
  async failedSince(endpointId: string, since: Instant): Promise<number | null> {
    return tables.endpointRow(this.#sql, endpointId) === null ? null : this.#lane(endpointId).failedSince(since);
  }

  /** Null when there is no such endpoint. */
  async recover(endpointId: string, since: Instant): Promise<Recovery | null> {
    return tables.endpointRow(this.#sql, endpointId) === null ? null : this.#lane(endpointId).recover(since);
  }

  async keepReplay(endpointId: string, deliveryId: string, outcome: Outcome): Promise<Delivery | null> {
    return tables.endpointRow(this.#sql, endpointId) === null ? null : this.#lane(endpointId).keepReplay(deliveryId, outcome);
  }
}
