// One object an endpoint: the deliveries of that endpoint and nothing else, so that a receiver that hangs delays nobody but
// itself. Everything is sent inside the alarm, at most five at once; how something is sent comes from outside (`LanePorts`),
// this file holds when. Three rules keep it from ever falling silent: the next alarm is set before anything is tried, the
// alarm never throws (the platform forgets one that throws six times), and a lane that starts looks for what was under way.
import { DurableObject } from "cloudflare:workers";
import type { StoredEvent } from "../../core/events/event.ts";
import type {
  Delivery,
  EndpointDelivery,
  EndpointHealth,
  EndpointSettings,
  AttemptOutcome,
  RecoveryResult,
  ReplaySource,
  OutgoingDelivery,
  SendResult,
} from "../../core/webhooks/endpoint.ts";
import { shouldAlert } from "../../core/webhooks/health.ts";
import type { HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import { attemptLeaseMs, maxConcurrentDeliveries } from "../../core/webhooks/schedule.ts";
import { hourMs, secondMs, type Clock, type Instant } from "../../core/time.ts";
import { migrateSchema } from "../schema-steps.ts";
import { deliveryQueueSteps } from "./migrations.ts";
import * as tables from "./tables.ts";
import type { DeliveryRow } from "./tables.ts";

export interface DeliveryPorts {
  readonly clock: Clock;
  /** How far ahead an alarm may lie; Infinity where clocks only go forward at their own pace. */
  readonly maxAlarmDelayMs: number;
  readonly newDeliveryId: () => string;
  /** Never throws. */
  readonly send: (sending: OutgoingDelivery) => Promise<SendResult>;
  /** Tells the owners that their endpoint has been failing for long. */
  readonly alert: (settings: EndpointSettings, health: EndpointHealth) => Promise<void>;
  readonly logError: (error: unknown) => void;
}

interface FinishedAttempt {
  readonly claimed: DeliveryRow;
  readonly sent: SendResult;
  readonly at: Instant;
}

const stopClaimingAfterMs = 45 * secondMs; // with the last attempts (10 s) far inside the fifteen minutes an alarm may take
const batchWindowMs = 2; // about what one write to disk takes
const retryAfterErrorMs = 5 * secondMs;
const minPruneSpacingMs = hourMs; // deliveries that end one by one are not dropped one by one

export abstract class DeliveryQueue<E = unknown> extends DurableObject<E> {
  #portsPromise: Promise<DeliveryPorts> | undefined;
  /** Interrupts the wait of the alarm under way; null when there is none. */
  #wake: (() => void) | null = null;
  /** False until this process has looked for attempts that died with the one before. */
  #hasRequeued = false;
  /** True from `wipe` on: what is still under way finds no tables and must not look for them. */
  #isWiped = false;

  constructor(ctx: DurableObjectState, env: E) {
    super(ctx, env);
    if (!tables.hasDeliveryTables(ctx.storage.sql)) return;
    migrateSchema(ctx.storage, deliveryQueueSteps);
    // Whatever the last process meant to do next, this one looks now; the alarm then sets the right time.
    if (tables.findNextDueAt(ctx.storage.sql) !== null) void ctx.storage.setAlarm(Date.now() + 1);
    else if (tables.findNextPruneAt(ctx.storage.sql) !== null) void this.#ensureAlarm();
  }

  /** An earlier deployment left lanes without an alarm when they had nothing more to send. */
  async #ensureAlarm(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + 1);
  }

  protected abstract openPorts(): Promise<DeliveryPorts>;

  async #getPorts(): Promise<DeliveryPorts> {
    this.#portsPromise ??= this.openPorts();
    try {
      return await this.#portsPromise;
    } catch (error) {
      this.#portsPromise = undefined; // a failed opening is tried again, not remembered
      throw error;
    }
  }

  #isOpen(): boolean {
    return !this.#isWiped && tables.hasDeliveryTables(this.ctx.storage.sql);
  }

  /** Takes up a new endpoint, which hears of what comes after `head`. */
  open(settings: EndpointSettings, head: number): void {
    migrateSchema(this.ctx.storage, deliveryQueueSteps);
    tables.saveSettings(this.ctx.storage.sql, settings, head);
  }

  /**
   * Takes events and, where they are newer, settings. Answers how far the lane has come, or null when it is not open. Rows and
   * alarm are one step: nothing awaits between them.
   */
  async push(settings: EndpointSettings, events: readonly StoredEvent[], upTo: number): Promise<number | null> {
    const { clock, newDeliveryId } = await this.#getPorts();
    if (!this.#isOpen()) return null;
    const { storage } = this.ctx;
    const received = storage.transactionSync(() => {
      tables.saveSettings(storage.sql, settings, 0);
      return tables.insertEvents(storage.sql, events, upTo, newDeliveryId, clock());
    });
    if (this.#wake !== null) this.#wake();
    else if (tables.findNextDueAt(storage.sql) !== null) await storage.setAlarm(Date.now() + 1);
    return received;
  }

  /** The endpoint is gone: nothing of it stays, and nothing is sent any more but what is under way. */
  async wipe(): Promise<void> {
    this.#isWiped = true;
    this.#wake?.();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  getHealth(): EndpointHealth | null {
    return this.#isOpen() ? tables.getHealth(this.ctx.storage.sql) : null;
  }

  /** Newest first, at most `limit`; null when `before` is no delivery of this endpoint. */
  listDeliveries(limit: number, before: string | null): { readonly deliveries: readonly Delivery[]; readonly hasMore: boolean } | null {
    const settings = this.#isOpen() ? tables.findSettings(this.ctx.storage.sql) : null;
    const rows = settings === null ? null : tables.listDeliveries(this.ctx.storage.sql, limit + 1, before);
    if (settings === null || rows === null) return null;
    return { deliveries: rows.slice(0, limit).map((row) => tables.toDelivery(row, settings.endpointId)), hasMore: rows.length > limit };
  }

  /** Of the events behind `after`, up to `upTo`; an event's place beside each. */
  listDeliveriesBetween(after: number, upTo: number): readonly EndpointDelivery[] {
    const settings = this.#isOpen() ? tables.findSettings(this.ctx.storage.sql) : null;
    if (settings === null) return [];
    const rows = tables.listDeliveriesBetween(this.ctx.storage.sql, after, upTo);
    return rows.map((row) => ({ url: settings.url, seq: row.seq, delivery: tables.toDelivery(row, settings.endpointId) }));
  }

  findReplaySource(deliveryId: string): ReplaySource | null {
    const settings = this.#isOpen() ? tables.findSettings(this.ctx.storage.sql) : null;
    const row = settings === null ? null : tables.findDeliveryRow(this.ctx.storage.sql, deliveryId);
    if (settings === null || row === null) return null;
    return {
      delivery: tables.toDelivery(row, settings.endpointId),
      sending: { settings, event: tables.toStoredEvent(row), deliveryId, attempt: Math.max(1, row.attempt) },
    };
  }

  /** Enters how a replay ended; answers the delivery as it then stands. */
  async saveReplay(deliveryId: string, outcome: AttemptOutcome): Promise<Delivery | null> {
    const { clock } = await this.#getPorts();
    const settings = this.#isOpen() ? tables.findSettings(this.ctx.storage.sql) : null;
    if (settings === null) return null;
    tables.saveReplay(this.ctx.storage.sql, deliveryId, outcome, clock());
    const row = tables.findDeliveryRow(this.ctx.storage.sql, deliveryId);
    return row === null ? null : tables.toDelivery(row, settings.endpointId);
  }

  /** How attempts ended in the hours from then on, the earliest first. */
  listAttemptHours(since: Instant): readonly HourlyAttempts[] {
    return this.#isOpen() ? tables.listAttemptHours(this.ctx.storage.sql, since) : [];
  }

  /** How many deliveries failed since then. */
  countFailedSince(since: Instant): number {
    return this.#isOpen() ? tables.countFailed(this.ctx.storage.sql, since) : 0;
  }

  /** Sends them again; answers how many, and whether there are more than go at one time. */
  async recoverFailed(since: Instant): Promise<RecoveryResult> {
    const { clock } = await this.#getPorts();
    if (!this.#isOpen()) return { queued: 0, hasMore: false };
    const { storage } = this.ctx;
    const recovery = storage.transactionSync(() => {
      const queued = tables.recoverFailed(storage.sql, since, clock());
      return { queued, hasMore: tables.countFailed(storage.sql, since) > 0 };
    });
    if (this.#wake !== null) this.#wake();
    else if (tables.findNextDueAt(storage.sql) !== null) await storage.setAlarm(Date.now() + 1);
    return recovery;
  }

  /** Never throws and never gives up. */
  override async alarm(): Promise<void> {
    if (!this.#isOpen()) return;
    let ports: DeliveryPorts | null = null;
    try {
      ports = await this.#getPorts();
      // Before anything is tried, so that however this ends there is a next time; one write with the first claims.
      const armed = this.ctx.storage.setAlarm(Date.now() + attemptLeaseMs);
      await Promise.all([armed, this.#sendDueDeliveries(ports)]);
      if (this.#isWiped) return;
      tables.pruneDeliveries(this.ctx.storage.sql, ports.clock());
      await this.#scheduleNextAlarm(ports);
    } catch (error) {
      ports?.logError(error);
      await this.#scheduleAlarmAfterError();
    }
  }

  /** Also when not even the ports could be opened. */
  async #scheduleAlarmAfterError(): Promise<void> {
    try {
      if (!this.#isWiped) await this.ctx.storage.setAlarm(Date.now() + retryAfterErrorMs);
    } catch (error) {
      console.error(JSON.stringify({ level: "error", at: "delivery-queue.alarm", error: error instanceof Error ? error.name : "unknown" }));
    }
  }

  /** For what is to be sent next, and for what is to be dropped: an endpoint that never hears of anything again keeps nothing for good. */
  #scheduleNextAlarm({ clock, maxAlarmDelayMs }: DeliveryPorts): Promise<void> {
    const { storage } = this.ctx;
    const [dueAt, pruneAt, now] = [tables.findNextDueAt(storage.sql), tables.findNextPruneAt(storage.sql), clock()];
    // At the very moment would be in the past by the time the platform looks: one millisecond later is not.
    const waits = [
      ...(dueAt === null ? [] : [Math.min(maxAlarmDelayMs, Math.max(1, dueAt - now))]),
      ...(pruneAt === null ? [] : [pruneAt <= now ? 1 : Math.max(minPruneSpacingMs, pruneAt - now)]),
    ];
    return waits.length === 0 ? storage.deleteAlarm() : storage.setAlarm(Date.now() + Math.min(...waits));
  }

  /**
   * Keeps up to five deliveries under way until nothing is due; a slot that is free again is used at once. What ended at about
   * the same time is entered, and the next are claimed, in one step: it is the disk that bounds a busy endpoint.
   */
  async #sendDueDeliveries(ports: DeliveryPorts): Promise<void> {
    const { sql } = this.ctx.storage;
    tables.requeueInterrupted(sql, ports.clock(), !this.#hasRequeued);
    this.#hasRequeued = true;
    const stopAt = Date.now() + stopClaimingAfterMs;
    const running = new Map<number, Promise<void>>();
    let ended: FinishedAttempt[] = [];
    try {
      for (;;) {
        // Set before looking: what comes in after the look finds somebody to wake.
        const { promise: woken, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        if (!this.#isWiped) for (const attempt of ended) this.#recordAttempt(attempt);
        ended = [];
        const settings = this.#isWiped ? null : tables.findSettings(sql);
        while (settings?.status === "enabled" && running.size < maxConcurrentDeliveries && Date.now() < stopAt) {
          const claimed = tables.claimDelivery(sql, ports.clock());
          if (claimed === null) break;
          const attempt = this.#sendDelivery(ports, settings, claimed, (one) => {
            running.delete(claimed.seq);
            ended.push(one);
          });
          running.set(claimed.seq, attempt);
        }
        await this.#alertIfNeeded(ports);
        if (running.size === 0 && ended.length === 0) return;
        // Past the time for new ones only the end of those under way matters. One may have ended while a letter was written.
        if (ended.length === 0) await (Date.now() < stopAt ? this.#waitForWork(ports, running, woken) : Promise.race(running.values()));
        if (ended.length > 0) await this.#waitForBatch(running);
      }
    } finally {
      this.#wake = null;
    }
  }

  /** What ends within a moment of the first goes along with it; when nothing else is under way there is nothing to wait for. */
  async #waitForBatch(running: ReadonlyMap<number, Promise<void>>): Promise<void> {
    await Promise.race([scheduler.wait(batchWindowMs), Promise.all(running.values())]);
  }

  /** An attempt ends, a push comes, or a delivery becomes due while a slot is free. */
  async #waitForWork(ports: DeliveryPorts, running: ReadonlyMap<number, Promise<void>>, woken: Promise<void>): Promise<void> {
    const due = this.#isWiped || running.size >= maxConcurrentDeliveries ? null : tables.findNextDueAt(this.ctx.storage.sql);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const becomesDue = new Promise<void>((resolve) => {
      if (due !== null) timer = setTimeout(resolve, Math.min(attemptLeaseMs, Math.max(1, due - ports.clock())));
    });
    try {
      await Promise.race([...running.values(), woken, becomesDue]);
    } finally {
      clearTimeout(timer); // a timer left behind would keep the object awake, and billed
    }
  }

  async #sendDelivery(
    ports: DeliveryPorts,
    settings: EndpointSettings,
    claimed: DeliveryRow,
    end: (attempt: FinishedAttempt) => void,
  ): Promise<void> {
    const sent = await ports.send({
      settings,
      event: tables.toStoredEvent(claimed),
      deliveryId: claimed.id,
      attempt: tables.nextAttemptNumber(claimed),
    });
    end({ claimed, sent, at: ports.clock() });
  }

  #recordAttempt({ claimed, sent, at }: FinishedAttempt): void {
    const { sql } = this.ctx.storage;
    if (sent.kind === "cancelled") tables.cancelDelivery(sql, claimed, at);
    else if (sent.kind === "deferred") tables.deferDelivery(sql, claimed, sent.error, at);
    else tables.settleAttempt(sql, claimed, sent, at);
  }

  /** A letter that could not be written is tried again when the next attempt ends. */
  async #alertIfNeeded(ports: DeliveryPorts): Promise<void> {
    const { sql } = this.ctx.storage;
    const settings = this.#isWiped ? null : tables.findSettings(sql);
    const failing = settings === null ? null : tables.unalertedFailure(sql);
    if (settings === null || failing === null || !shouldAlert(failing, ports.clock())) return;
    try {
      await ports.alert(settings, tables.getHealth(sql));
      if (!this.#isWiped) tables.recordAlert(sql);
    } catch (error) {
      ports.logError(error);
    }
  }
}
