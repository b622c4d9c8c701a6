// Pushes events and settings to the delivery queues, one push at a time per queue. A queue that fails does not delay the others.
import type { Environment } from "../../core/access/entitlement.ts";
import { isEventReceiver } from "../../core/webhooks/endpoint.ts";
import { minuteMs, secondMs, type Instant } from "../../core/time.ts";
import { withDeadline } from "../../storage/database.ts";
import type { DeliveryQueue } from "../delivery-queue/object.ts";
import { logError } from "../error-log.ts";
import type { EventArchive } from "./archive.ts";
import { nextRetry, type RetryState } from "./retries.ts";
import * as tables from "./tables.ts";
import type { EndpointRow } from "./tables.ts";

export type GetQueue = (endpointId: string) => DurableObjectStub<DeliveryQueue>;

const rowsPerPush = 200;
const pushBackoff = { firstMs: 2 * secondMs, maxMs: minuteMs };
/**
 * The timeout of a call to a queue. A call that takes longer counts as failed, so that a queue that hangs delays nothing else. The call can
 * still succeed after the timeout.
 */
export const queueTimeoutMs = 5 * secondMs;
const holdMs = secondMs; // while a receiver hangs, events that arrive within this time are pushed to its queue together
/** The delay of the alarm that resumes the work if the process dies. */
export const safetyAlarmMs = 15 * secondMs;

export interface QueuePusherPorts {
  readonly archive: EventArchive;
  readonly getHead: () => number;
  readonly getBusinessId: () => string;
  readonly getEnvironment: () => Environment;
  readonly getQueue: GetQueue;
  readonly scheduleNextAlarm: () => Promise<void>;
}

export class QueuePusher {
  readonly #storage: DurableObjectStorage;
  readonly #ports: QueuePusherPorts;
  /** Progress that queues have acknowledged, but that is not stored yet. If it is lost, the push is repeated. */
  readonly #unsavedProgress = new Map<string, { readonly revision: number; readonly acked: number }>();
  readonly #pushing = new Map<string, Promise<void>>();
  readonly #retries = new Map<string, RetryState>();
  /** The time of the next push to each queue whose receiver was hanging during the last push. */
  readonly #heldUntil = new Map<string, Instant>();

  constructor(storage: DurableObjectStorage, ports: QueuePusherPorts) {
    this.#storage = storage;
    this.#ports = ports;
  }

  #isBehind(row: EndpointRow): boolean {
    return row.acked < this.#ports.getHead() || row.sent_revision < row.revision;
  }

  #withUnsavedProgress(row: EndpointRow): EndpointRow {
    const progress = this.#unsavedProgress.get(row.id);
    if (progress === undefined) return row;
    return { ...row, sent_revision: Math.max(row.sent_revision, progress.revision), acked: Math.max(row.acked, progress.acked) };
  }

  #listBehind(): readonly EndpointRow[] {
    return tables
      .listEndpointRows(this.#storage.sql)
      .map((row) => this.#withUnsavedProgress(row))
      .filter((row) => this.#isBehind(row));
  }

  #findBehind(endpointId: string): EndpointRow | null {
    const row = tables.findEndpointRow(this.#storage.sql, endpointId);
    const current = row === null ? null : this.#withUnsavedProgress(row);
    return current !== null && this.#isBehind(current) ? current : null;
  }

  saveProgress(): void {
    for (const [id, { revision, acked }] of this.#unsavedProgress) tables.updateProgress(this.#storage.sql, id, revision, acked);
    this.#unsavedProgress.clear();
  }

  /**
   * Returns the time at which the next push to a queue may start, or 0 if it may start now. New settings are pushed even while the receiver
   * hangs.
   */
  #getNextPushAt({ id, sent_revision, revision }: EndpointRow): Instant {
    return this.#retries.get(id)?.at ?? (sent_revision === revision ? this.#heldUntil.get(id) : undefined) ?? 0;
  }

  /**
   * Starts a push to each queue that has not received all events and settings. Skips a queue if a push to it is in progress or must wait.
   */
  pushToAll(): void {
    const now = Date.now();
    for (const row of this.#listBehind()) {
      if (this.#pushing.has(row.id) || this.#getNextPushAt(row) > now) continue;
      this.#pushing.set(row.id, this.#pushUntilCaughtUp(row.id));
    }
  }

  async waitForPushes(): Promise<void> {
    await Promise.all(this.#pushing.values());
  }

  async waitForPush(endpointId: string): Promise<void> {
    await this.#pushing.get(endpointId);
  }

  forget(endpointId: string): void {
    this.#unsavedProgress.delete(endpointId);
    this.#retries.delete(endpointId);
    this.#heldUntil.delete(endpointId);
  }

  /** Returns an alarm time for each queue that has not received all events and settings. */
  listAlarmTimes(now: Instant): readonly Instant[] {
    return this.#listBehind().map((row) => {
      const nextPushAt = this.#getNextPushAt(row);
      return nextPushAt > now ? nextPushAt : now + safetyAlarmMs;
    });
  }

  async #pushUntilCaughtUp(endpointId: string): Promise<void> {
    try {
      for (let row = this.#findBehind(endpointId); row !== null; row = this.#findBehind(endpointId)) await this.#pushBatch(row);
      this.#retries.delete(endpointId);
    } catch (error) {
      this.#retries.set(endpointId, nextRetry(this.#retries.get(endpointId), pushBackoff));
      logError("event-sequence.push", error);
      await this.#ports.scheduleNextAlarm();
    } finally {
      this.#pushing.delete(endpointId);
    }
  }

  async #pushBatch(row: EndpointRow): Promise<void> {
    const { archive, getHead, getBusinessId, getEnvironment, getQueue } = this.#ports;
    const upTo = Math.min(getHead(), row.acked + rowsPerPush);
    const found = await archive.listEventsBetween(row.acked, upTo, null, rowsPerPush);
    const environment = getEnvironment();
    const endpoint = tables.toEndpoint(row);
    const endpoints = environment === "live" ? [endpoint] : tables.listEndpointRows(this.#storage.sql).map(tables.toEndpoint);
    const events = found.filter(({ type }) => isEventReceiver(endpoint, type, endpoints, environment));
    if (events.length === 0 && row.sent_revision === row.revision) {
      this.#unsavedProgress.set(row.id, { revision: row.revision, acked: upTo });
      return;
    }
    const queue = getQueue(row.id);
    const settings = tables.toEndpointSettings(row, row.id, getBusinessId());
    const receipt = await withDeadline(async () => {
      if (row.sent_revision === 0) await queue.open(settings, row.acked);
      return queue.push(settings, events, upTo);
    }, queueTimeoutMs);
    // Unlike `received < upTo`, this condition is also true for NaN and undefined, which another deployed version of the class might
    // return.
    if (receipt === null || !(receipt.received >= upTo)) throw new Error("delivery queue did not take the events");
    this.#unsavedProgress.set(row.id, { revision: row.revision, acked: receipt.received });
    if (receipt.isHanging) this.#heldUntil.set(row.id, Date.now() + holdMs);
    else this.#heldUntil.delete(row.id);
  }
}
