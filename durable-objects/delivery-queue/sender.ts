// Sends due deliveries during an alarm, at most five at a time. A host is proven once it has returned a 2xx status for the business. Until
// then, deliveries to it are sent one at a time, and DestinationHost counts each attempt before it is sent.
import type { Instant } from "../../core/time.ts";
import { secondMs } from "../../core/time.ts";
import { isDelivered, type EndpointSettings, type SendResult } from "../../core/webhooks/endpoint.ts";
import { getEndpointHost, type HostPermit } from "../../core/webhooks/host-pacing.ts";
import { shouldAlert } from "../../core/webhooks/health.ts";
import { attemptLeaseMs, maxConcurrentDeliveries } from "../../core/webhooks/retry-schedule.ts";
import type { DeliveryPorts } from "./ports.ts";
import * as deliveries from "./deliveries.ts";
import * as queue from "./queue-row.ts";
import type { DeliveryRow } from "./deliveries.ts";

interface Capacity {
  readonly settings: EndpointSettings | null;
  readonly capacity: number;
}

const noCapacity: Capacity = { settings: null, capacity: 0 };

interface FinishedAttempt {
  readonly settings: EndpointSettings;
  readonly claimed: DeliveryRow;
  readonly result: SendResult;
  readonly at: Instant;
}

const stopClaimingAfterMs = 45 * secondMs; // with its last attempts (13 s), a run ends long before the platform stops an alarm (15 minutes)
const batchWindowMs = 2; // attempts that end within this time share a disk write, which takes about as long
const hangingAfterMs = secondMs; // most receivers respond sooner
const hostOutageWaitMs = 5 * secondMs; // how long the queue waits before it calls DestinationHost again after an error

export class Sender {
  readonly #storage: DurableObjectStorage;
  /** Wakes a run that is waiting for work. Null if no run is in progress. */
  #wake: (() => void) | null = null;
  /** True once this process has requeued the deliveries that a previous process was sending when it died. */
  #hasRequeued = false;
  #isStopped = false;
  /** True if no attempt can start until another one ends. */
  #isFull = false;
  #lastStartAt = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** True after `stop`, which is called before the tables are deleted. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** True if no attempt can start until another one ends, and none has started for a second. */
  get isHanging(): boolean {
    return this.#isFull && Date.now() - this.#lastStartAt >= hangingAfterMs;
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake?.();
  }

  /** Makes the current run look for due deliveries again. Returns false if no run is in progress. */
  wake(): boolean {
    this.#wake?.();
    return this.#wake !== null;
  }

  /**
   * Sends due deliveries for up to 45 seconds. As soon as an attempt ends, the next delivery starts. When no delivery is due or in
   * progress, a run that has sent one waits up to 100 ms for the next event. Disk writes limit the throughput of a busy endpoint, so
   * attempts that end at about the same time are recorded in one write, together with the next claims.
   */
  async sendDueDeliveries(ports: DeliveryPorts): Promise<void> {
    const { sql } = this.#storage;
    deliveries.requeueInterrupted(sql, ports.clock(), !this.#hasRequeued);
    this.#hasRequeued = true;
    const stopAt = Date.now() + stopClaimingAfterMs;
    const running = new Map<number, Promise<void>>();
    const finished: FinishedAttempt[] = [];
    let hasSent = false;
    try {
      for (;;) {
        // Create this promise before searching for due rows. Otherwise, a push that arrives between the search and the wait could not wake
        // the run.
        const { promise: woken, resolve } = Promise.withResolvers<void>();
        let isWoken = false;
        this.#wake = () => {
          isWoken = true;
          resolve();
        };
        for (const attempt of finished.splice(0)) {
          if (!this.#isStopped) this.#recordAttempt(attempt);
          await this.#proveHost(ports, attempt);
        }
        const { settings, capacity } = await this.#findCapacity(ports, running.size);
        while (settings !== null && running.size < capacity && Date.now() < stopAt) {
          const claimed = deliveries.claimDelivery(sql, ports.clock());
          if (claimed === null) break;
          const attempt = this.#sendDelivery(ports, settings, claimed, (finishedAttempt) => {
            running.delete(claimed.seq);
            finished.push(finishedAttempt);
          });
          running.set(claimed.seq, attempt);
          hasSent = true;
          this.#lastStartAt = Date.now();
        }
        this.#isFull = running.size > 0 && running.size >= capacity;
        await this.#alertIfNeeded(ports);
        if (running.size === 0 && finished.length === 0) {
          if (settings === null || !hasSent || Date.now() >= stopAt) return;
          await Promise.race([woken, scheduler.wait(ports.idleRunMs)]);
          if (!isWoken) return; // no `await` after this check, so any later push finds no run in progress and sets an alarm
          continue;
        }
        // Do not wait if an attempt has already ended during `#alertIfNeeded`. After 45 seconds, only wait for running attempts.
        if (finished.length === 0)
          await (Date.now() < stopAt ? this.#waitForWork(ports, running, capacity, woken) : Promise.race(running.values()));
        if (finished.length > 0) await this.#waitForBatch(running);
      }
    } finally {
      this.#wake = null;
      this.#isFull = false;
    }
  }

  /**
   * Returns the endpoint's settings and how many deliveries may be in progress at once. The settings are null if nothing may be sent.
   * `running` is the number of deliveries in progress.
   */
  async #findCapacity(ports: DeliveryPorts, running: number): Promise<Capacity> {
    const { sql } = this.#storage;
    const settings = this.#isStopped ? null : queue.findSettings(sql);
    if (settings?.status !== "enabled") return noCapacity;
    if (queue.isHostProven(sql)) return { settings, capacity: maxConcurrentDeliveries };
    if (running > 0 || !deliveries.hasClaimableDelivery(sql, ports.clock())) return noCapacity;
    const permit = await this.#takeHostAttempt(ports, settings);
    // While this call was waiting, the queue may have been deleted, or the endpoint's settings may have changed. The next alarm tries
    // again.
    if (this.#isStopped || queue.findSettings(sql)?.revision !== settings.revision) return noCapacity;
    if (permit.kind === "wait") {
      queue.pauseQueue(sql, ports.clock() + permit.waitMs);
      return noCapacity;
    }
    if (permit.kind === "counted") return { settings, capacity: 1 };
    queue.saveProvenHost(sql, getEndpointHost(settings.url));
    return { settings, capacity: maxConcurrentDeliveries };
  }

  async #takeHostAttempt(ports: DeliveryPorts, settings: EndpointSettings): Promise<HostPermit> {
    try {
      return await ports.takeHostAttempt(settings);
    } catch (error) {
      ports.logError(error);
      return { kind: "wait", waitMs: hostOutageWaitMs };
    }
  }

  /**
   * Records a host's first 2xx response in this queue and in DestinationHost. If DestinationHost does not respond, the host stays unproven
   * for the business's other endpoints until it returns a 2xx status to one of them.
   */
  async #proveHost(ports: DeliveryPorts, { settings, result }: FinishedAttempt): Promise<void> {
    const isSuccess = result.kind === "answered" && isDelivered(result);
    if (!isSuccess || this.#isStopped || queue.isHostProven(this.#storage.sql)) return;
    queue.saveProvenHost(this.#storage.sql, getEndpointHost(settings.url));
    try {
      await ports.recordHostSuccess(settings);
    } catch (error) {
      ports.logError(error);
    }
  }

  /** Waits up to 2 ms for other running attempts to finish, so that they are recorded together. */
  async #waitForBatch(running: ReadonlyMap<number, Promise<void>>): Promise<void> {
    await Promise.race([scheduler.wait(batchWindowMs), Promise.all(running.values())]);
  }

  /** Resolves when an attempt ends or a push arrives. While another attempt could start, also resolves when a delivery becomes due. */
  async #waitForWork(
    ports: DeliveryPorts,
    running: ReadonlyMap<number, Promise<void>>,
    capacity: number,
    woken: Promise<void>,
  ): Promise<void> {
    const dueAt = this.#isStopped || running.size >= capacity ? null : deliveries.findNextDueAt(this.#storage.sql);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const becomesDue = new Promise<void>((resolve) => {
      if (dueAt !== null) timer = setTimeout(resolve, Math.min(attemptLeaseMs, Math.max(1, dueAt - ports.clock())));
    });
    try {
      await Promise.race([...running.values(), woken, becomesDue]);
    } finally {
      clearTimeout(timer); // a pending timer would keep the object awake, which is billed
    }
  }

  async #sendDelivery(
    ports: DeliveryPorts,
    settings: EndpointSettings,
    claimed: DeliveryRow,
    onFinished: (attempt: FinishedAttempt) => void,
  ): Promise<void> {
    const result = await ports.send({
      settings,
      event: deliveries.toStoredEvent(claimed),
      deliveryId: claimed.id,
      attempt: deliveries.nextAttemptNumber(claimed),
    });
    onFinished({ settings, claimed, result, at: ports.clock() });
  }

  #recordAttempt({ claimed, result, at }: FinishedAttempt): void {
    const { sql } = this.#storage;
    if (result.kind === "cancelled") deliveries.cancelDelivery(sql, claimed, at);
    else if (result.kind === "deferred") deliveries.deferDelivery(sql, claimed, result.error, at);
    else deliveries.settleAttempt(sql, claimed, result, at);
  }

  /**
   * Notifies the owners if the endpoint has been failing for long enough. If the notification fails, the next pass of the loop tries again.
   */
  async #alertIfNeeded(ports: DeliveryPorts): Promise<void> {
    const { sql } = this.#storage;
    const settings = this.#isStopped ? null : queue.findSettings(sql);
    const streak = settings === null ? null : queue.findUnalertedFailure(sql);
    if (settings === null || streak === null || !shouldAlert(streak, ports.clock())) return;
    try {
      await ports.alert(settings, deliveries.getHealth(sql));
      if (!this.#isStopped) queue.recordAlert(sql);
    } catch (error) {
      ports.logError(error);
    }
  }
}
