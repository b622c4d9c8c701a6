// The delivery queue of one webhook endpoint (SPEC Webhook delivery). Each endpoint has its own object, so that a receiver that hangs does
// not delay other endpoints. The alarm sends the deliveries (sender.ts). Three rules keep a queue from getting stuck:
// - The object sets the next alarm before it sends anything.
// - The alarm never rejects, because the platform retries a failing alarm six times and then drops it.
// - After a restart, the object requeues attempts that were interrupted.
import { DurableObject } from "cloudflare:workers";
import type { StoredEvent } from "../../core/events/event.ts";
import type { Instant } from "../../core/time.ts";
import { secondMs } from "../../core/time.ts";
import type {
  AttemptResult,
  Delivery,
  DeliveryPage,
  DeliveryFilter,
  DeliveryRecord,
  EndpointActivity,
  EndpointDelivery,
  EndpointSettings,
  RecoveryResult,
} from "../../core/webhooks/endpoint.ts";
import type { HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import { attemptLeaseMs } from "../../core/webhooks/retry-schedule.ts";
import { logError } from "../error-log.ts";
import { migrateSchema } from "../schema-steps.ts";
import { listAttempts } from "./attempts.ts";
import { deliveryQueueSteps } from "./migrations.ts";
import type { DeliveryPorts } from "./ports.ts";
import { computeAlarmDelayMs } from "./schedule.ts";
import { Sender } from "./sender.ts";
import * as deliveries from "./deliveries.ts";
import * as queue from "./queue-row.ts";

export interface EndpointOverview extends EndpointActivity {
  /** A page of deliveries, or null if `before` is not a delivery to this endpoint (see `listDeliveries`). */
  readonly page: DeliveryPage | null;
}

export interface PushReceipt {
  /** The last sequence number that the queue has received. */
  readonly received: number;
  /**
   * True if the queue cannot send now because the receiver is not responding. The caller can then wait and push several events together.
   */
  readonly isHanging: boolean;
}

const retryAfterErrorMs = 5 * secondMs;

export abstract class DeliveryQueue<E = unknown> extends DurableObject<E> {
  readonly #sender: Sender;
  #portsPromise: Promise<DeliveryPorts> | undefined;

  constructor(ctx: DurableObjectState, env: E) {
    super(ctx, env);
    this.#sender = new Sender(ctx.storage);
    if (!queue.hasDeliveryTables(ctx.storage.sql)) return;
    migrateSchema(ctx.storage, deliveryQueueSteps);
    // The previous process may have died before it set its next alarm. The alarm set here runs immediately and schedules the next one.
    if (deliveries.findNextDueAt(ctx.storage.sql) !== null) void ctx.storage.setAlarm(Date.now() + 1);
    else if (deliveries.findNextPruneAt(ctx.storage.sql) !== null) void this.#ensureAlarm();
  }

  async #ensureAlarm(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + 1);
  }

  protected abstract openPorts(): Promise<DeliveryPorts>;

  async #getPorts(): Promise<DeliveryPorts> {
    this.#portsPromise ??= this.openPorts();
    try {
      return await this.#portsPromise;
    } catch (error) {
      this.#portsPromise = undefined; // so that the next call opens the ports again
      throw error;
    }
  }

  #isOpen(): boolean {
    return !this.#sender.isStopped && queue.hasDeliveryTables(this.ctx.storage.sql);
  }

  #findSettings(): EndpointSettings | null {
    return this.#isOpen() ? queue.findSettings(this.ctx.storage.sql) : null;
  }

  async #sendSoon(): Promise<void> {
    const { storage } = this.ctx;
    if (!this.#sender.wake() && deliveries.findNextDueAt(storage.sql) !== null) await storage.setAlarm(Date.now() + 1);
  }

  /**
   * Creates the tables for a new endpoint. The endpoint receives only the events after number `head`. Does nothing if the queue was wiped,
   * because the call may have been delayed.
   */
  open(settings: EndpointSettings, head: number): void {
    if (this.#sender.isStopped) return;
    migrateSchema(this.ctx.storage, deliveryQueueSteps);
    queue.saveSettings(this.ctx.storage.sql, settings, head);
  }

  /**
   * Stores new settings and new events. `upTo` is the last sequence number that was read for this endpoint. Returns null if the queue is
   * not open.
   */
  async push(settings: EndpointSettings, events: readonly StoredEvent[], upTo: number): Promise<PushReceipt | null> {
    const { clock, newDeliveryId } = await this.#getPorts();
    if (!this.#isOpen()) return null;
    const { storage } = this.ctx;
    const received = storage.transactionSync(() => {
      queue.saveSettings(storage.sql, settings, 0);
      return deliveries.insertEvents(storage.sql, events, upTo, newDeliveryId, clock());
    });
    await this.#sendSoon(); // no `await` between writing the rows and setting the alarm, so both are written together
    return { received, isHanging: this.#sender.isHanging };
  }

  /** Deletes all data of a removed endpoint. An attempt that is in progress can still reach the receiver. */
  async wipe(): Promise<void> {
    this.#sender.stop();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  getActivity(): EndpointActivity | null {
    return this.#isOpen() ? deliveries.getActivity(this.ctx.storage.sql) : null;
  }

  /**
   * Lists up to `limit` deliveries that are older than the delivery `before`, newest first. If `status` is null, lists deliveries of every
   * status. Returns null if `before` is not a delivery to this endpoint.
   */
  listDeliveries(limit: number, before: string | null, status: DeliveryFilter | null = null): DeliveryPage | null {
    const settings = this.#findSettings();
    const rows = settings === null ? null : deliveries.listDeliveries(this.ctx.storage.sql, limit + 1, before, status);
    if (settings === null || rows === null) return null;
    return { deliveries: rows.slice(0, limit).map((row) => deliveries.toDelivery(row, settings.endpointId)), hasMore: rows.length > limit };
  }

  /** Lists the deliveries of the events after number `after` and up to number `upTo`. */
  listDeliveriesBetween(after: number, upTo: number): readonly EndpointDelivery[] {
    const settings = this.#findSettings();
    if (settings === null) return [];
    const rows = deliveries.listDeliveriesBetween(this.ctx.storage.sql, after, upTo);
    return rows.map((row) => ({ url: settings.url, seq: row.seq, delivery: deliveries.toDelivery(row, settings.endpointId) }));
  }

  /** Returns the data for the endpoint's page in the portal, or null if the queue is not open. */
  getOverview(limit: number, before: string | null, status: DeliveryFilter | null): EndpointOverview | null {
    const activity = this.getActivity();
    return activity === null ? null : { ...activity, page: this.listDeliveries(limit, before, status) };
  }

  #findDelivery(deliveryId: string) {
    const settings = this.#findSettings();
    const row = settings === null ? null : deliveries.findDeliveryRow(this.ctx.storage.sql, deliveryId);
    if (settings === null || row === null) return null;
    return { settings, row, delivery: deliveries.toDelivery(row, settings.endpointId), event: deliveries.toStoredEvent(row) };
  }

  findRecord(deliveryId: string): DeliveryRecord | null {
    const found = this.#findDelivery(deliveryId);
    if (found === null) return null;
    const { settings, row, delivery, event } = found;
    return { settings, delivery, event, attempts: listAttempts(this.ctx.storage.sql, row.seq) };
  }

  /** Records the result of a replay. Returns the updated delivery, or null if it does not exist. */
  async saveReplay(deliveryId: string, outcome: AttemptResult): Promise<Delivery | null> {
    const { clock } = await this.#getPorts();
    if (!this.#isOpen()) return null;
    deliveries.saveReplay(this.ctx.storage.sql, deliveryId, outcome, clock());
    return this.#findDelivery(deliveryId)?.delivery ?? null;
  }

  /** Lists the number of attempts in each hour since `since`, oldest first. */
  listAttemptHours(since: Instant): readonly HourlyAttempts[] {
    return this.#isOpen() ? queue.listAttemptHours(this.ctx.storage.sql, since) : [];
  }

  countFailedSince(since: Instant): number {
    return this.#isOpen() ? deliveries.countFailed(this.ctx.storage.sql, since) : 0;
  }

  /** Requeues up to `maxRecoveredDeliveries` deliveries that have failed since `since`. `hasMore` is true if more of them remain. */
  async recoverFailed(since: Instant): Promise<RecoveryResult> {
    const { clock } = await this.#getPorts();
    if (!this.#isOpen()) return { queued: 0, hasMore: false };
    const { storage } = this.ctx;
    const recovery = storage.transactionSync(() => {
      const queued = deliveries.recoverFailed(storage.sql, since, clock());
      return { queued, hasMore: deliveries.countFailed(storage.sql, since) > 0 };
    });
    await this.#sendSoon();
    return recovery;
  }

  /** Sends due deliveries and deletes old rows. Never rejects. */
  override async alarm(): Promise<void> {
    if (!this.#isOpen()) return;
    const { storage } = this.ctx;
    let ports: DeliveryPorts | null = null;
    try {
      ports = await this.#getPorts();
      // This alarm resumes the work if the process dies. Setting it is not awaited here, so that the alarm and the first claims are written
      // to disk together.
      const armed = storage.setAlarm(Date.now() + attemptLeaseMs);
      await Promise.all([armed, this.#sender.sendDueDeliveries(ports)]);
      if (this.#sender.isStopped) return;
      deliveries.pruneDeliveries(storage.sql, ports.clock());
      const delayMs = computeAlarmDelayMs(storage.sql, ports);
      await (delayMs === null ? storage.deleteAlarm() : storage.setAlarm(Date.now() + delayMs));
    } catch (error) {
      ports?.logError(error);
      await this.#scheduleAlarmAfterError();
    }
  }

  /** Schedules another alarm without using the ports, because opening them may have failed. */
  async #scheduleAlarmAfterError(): Promise<void> {
    try {
      if (!this.#sender.isStopped) await this.ctx.storage.setAlarm(Date.now() + retryAfterErrorMs);
    } catch (error) {
      logError("delivery-queue.alarm", error);
    }
  }
}
