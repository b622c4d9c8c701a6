// A business's webhook endpoints: registration, changes, removal, health and deliveries.
import {
  canHoldDelivery,
  canReplaceSecret,
  maxEndpoints,
  normalizeEndpointUrl,
  operatorSecretOverlapMs,
  secretOverlapMs,
} from "../../core/webhooks/endpoint.ts";
import type {
  AddedEndpoint,
  DeliveryFilter,
  DeliveryRecord,
  Endpoint,
  EndpointChange,
  EndpointDelivery,
  EndpointHealth,
  EndpointSettings,
  NewEndpoint,
  SecretAge,
} from "../../core/webhooks/endpoint.ts";
import type { HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import type { Instant } from "../../core/time.ts";
import { requestTimeoutMs, withDeadline } from "../../storage/database.ts";
import { isSameSealedValue } from "../../storage/vault.ts";
import type { DeliveryQueue, EndpointOverview } from "../delivery-queue/object.ts";
import { logError } from "../error-log.ts";
import { queueTimeoutMs, type QueuePusher, type QueuePusherPorts } from "./queue-pusher.ts";
import * as tables from "./tables.ts";
import type { EndpointRow } from "./tables.ts";

/**
 * An endpoint with its health and its number of attempts per hour. Both are null if its delivery queue did not respond or is not open yet.
 */
export interface EndpointWithHealth {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth | null;
  readonly hours: readonly HourlyAttempts[] | null;
}

/**
 * An endpoint with the data for its page in the portal. `overview` is null if the endpoint's delivery queue did not respond or is not open
 * yet.
 */
export interface EndpointWithOverview {
  readonly endpoint: Endpoint;
  readonly overview: EndpointOverview | null;
}

/** A sealed value (`from`), and the same value rewrapped with another master key (`to`). */
export interface SealedReplacement {
  readonly from: string;
  readonly to: string;
}

type EndpointPorts = Omit<QueuePusherPorts, "archive"> & { readonly pusher: QueuePusher };

export class Endpoints {
  readonly #storage: DurableObjectStorage;
  readonly #ports: EndpointPorts;

  constructor(storage: DurableObjectStorage, ports: EndpointPorts) {
    this.#storage = storage;
    this.#ports = ports;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  /** Sends the endpoint's settings to its delivery queue. If that fails, the alarm tries again. */
  async #pushChange(endpointId: string): Promise<void> {
    const { pusher, scheduleNextAlarm } = this.#ports;
    await scheduleNextAlarm();
    pusher.pushToAll();
    await pusher.waitForPush(endpointId);
  }

  async #loadWithHealth(row: EndpointRow): Promise<EndpointWithHealth> {
    const endpoint = tables.toEndpoint(row);
    try {
      const activity = await withDeadline(async () => this.#ports.getQueue(row.id).getActivity(), requestTimeoutMs);
      return { endpoint, health: activity?.health ?? null, hours: activity?.hours ?? null };
    } catch (error) {
      logError("event-sequence.health", error);
      return { endpoint, health: null, hours: null };
    }
  }

  async findWithOverview(
    id: string,
    limit: number,
    before: string | null,
    status: DeliveryFilter | null,
  ): Promise<EndpointWithOverview | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null) return null;
    const endpoint = tables.toEndpoint(row);
    try {
      const getOverview = async () => this.#ports.getQueue(id).getOverview(limit, before, status);
      return { endpoint, overview: await withDeadline(getOverview, requestTimeoutMs) };
    } catch (error) {
      logError("event-sequence.overview", error);
      return { endpoint, overview: null };
    }
  }

  isUrlTaken(url: string, id: string | null): boolean {
    const normalized = normalizeEndpointUrl(url);
    return tables.listEndpointRows(this.#sql).some((row) => row.id !== id && normalizeEndpointUrl(row.url) === normalized);
  }

  async add(endpoint: NewEndpoint): Promise<AddedEndpoint> {
    if (this.isUrlTaken(endpoint.url, null)) return "url_taken";
    if (tables.listEndpointRows(this.#sql).length >= maxEndpoints) return "limit_reached";
    tables.insertEndpoint(this.#sql, endpoint, this.#ports.getHead());
    await this.#pushChange(endpoint.id);
    return "added";
  }

  list(): Promise<readonly EndpointWithHealth[]> {
    return Promise.all(tables.listEndpointRows(this.#sql).map((row) => this.#loadWithHealth(row)));
  }

  async find(id: string): Promise<EndpointWithHealth | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    return row === null ? null : this.#loadWithHealth(row);
  }

  async update(id: string, change: EndpointChange): Promise<EndpointWithHealth | "url_taken" | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null) return null;
    if (change.url !== undefined && this.isUrlTaken(change.url, id)) return "url_taken";
    tables.updateEndpoint(this.#sql, row, change);
    await this.#pushChange(id);
    return this.find(id);
  }

  async rotateSecret(
    id: string,
    secret: { readonly sealed: string; readonly hint: string },
    now: Instant,
    replacedHint: string | null,
  ): Promise<Instant | "outdated" | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null) return null;
    if (replacedHint !== null && row.secret_hint !== replacedHint) return "outdated";
    if (!isSameSealedValue(row.secret_sealed, secret.sealed)) tables.rotateSecret(this.#sql, id, secret, now, secretOverlapMs);
    await this.#pushChange(id);
    return tables.findEndpointRow(this.#sql, id)?.earlier_until ?? null;
  }

  listSecretAges(): readonly SecretAge[] {
    return tables.listEndpointRows(this.#sql).map(tables.toSecretAge);
  }

  async replaceSecret(
    id: string,
    secret: { readonly sealed: string; readonly hint: string },
    before: Instant,
    now: Instant,
  ): Promise<void> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null || !canReplaceSecret(tables.toSecretAge(row), before, now)) return;
    tables.rotateSecret(this.#sql, id, secret, now, operatorSecretOverlapMs);
    await this.#pushChange(id);
  }

  listSealedSecrets(): readonly string[] {
    return tables.listSealedSecrets(this.#sql);
  }

  async replaceSealedSecrets(replacements: readonly SealedReplacement[]): Promise<void> {
    this.#storage.transactionSync(() => {
      for (const { from, to } of replacements) tables.replaceSealedSecret(this.#sql, from, to);
    });
    await this.#ports.scheduleNextAlarm();
    this.#ports.pusher.pushToAll();
  }

  findSettings(id: string): EndpointSettings | null {
    const row = tables.findEndpointRow(this.#sql, id);
    return row === null ? null : tables.toEndpointSettings(row, row.id, this.#ports.getBusinessId());
  }

  async remove(id: string): Promise<boolean> {
    const { scheduleNextAlarm } = this.#ports;
    if (!tables.markEndpointRemoved(this.#sql, id)) return false;
    await scheduleNextAlarm();
    await withDeadline(() => this.#finishRemoval(id), queueTimeoutMs);
    await scheduleNextAlarm();
    return true;
  }

  get hasUnfinishedRemovals(): boolean {
    return tables.listRemovedEndpoints(this.#sql).length > 0;
  }

  /**
   * Wipes the delivery queues of removed endpoints. Never rejects. If a queue fails or does not respond in time, the next alarm tries
   * again.
   */
  async finishRemovals(): Promise<void> {
    await Promise.all(
      tables
        .listRemovedEndpoints(this.#sql)
        .map((id) =>
          withDeadline(() => this.#finishRemoval(id), queueTimeoutMs).catch((error: unknown) => logError("event-sequence.removal", error)),
        ),
    );
  }

  async #finishRemoval(id: string): Promise<void> {
    const { pusher, getQueue } = this.#ports;
    await pusher.waitForPush(id); // a push that is still in progress could create the queue again
    await getQueue(id).wipe();
    tables.deleteEndpoint(this.#sql, id);
    pusher.forget(id);
  }

  /** Calls the delivery queue of an endpoint. Returns null if the endpoint does not exist. Rejects if the queue does not respond in time. */
  async callQueue<T>(endpointId: string, call: (queue: DurableObjectStub<DeliveryQueue>) => Promise<T>): Promise<T | null> {
    if (tables.findEndpointRow(this.#sql, endpointId) === null) return null;
    return withDeadline(() => call(this.#ports.getQueue(endpointId)), queueTimeoutMs);
  }

  async listDeliveriesBetween(after: number, upTo: number): Promise<readonly EndpointDelivery[]> {
    const results = await Promise.allSettled(
      tables
        .listEndpointRows(this.#sql)
        .map(({ id }) => withDeadline(async () => this.#ports.getQueue(id).listDeliveriesBetween(after, upTo), requestTimeoutMs)),
    );
    return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  }

  async findDeliveryRecord(deliveryId: string): Promise<DeliveryRecord | null> {
    const candidates = tables.listEndpointRows(this.#sql).filter((row) => canHoldDelivery(row.id, deliveryId));
    const found = await Promise.all(candidates.map((row) => this.callQueue(row.id, async (queue) => queue.findRecord(deliveryId))));
    return found.find((record) => record !== null) ?? null;
  }
}
