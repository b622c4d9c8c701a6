// The base class of the event sequence, with the RPC methods for a business's webhook endpoints: registration, changes, removal, health and
// deliveries.
import { DurableObject } from "cloudflare:workers";
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
  AttemptResult,
  Delivery,
  DeliveryFilter,
  DeliveryRecord,
  Endpoint,
  EndpointChange,
  EndpointDelivery,
  EndpointHealth,
  EndpointSettings,
  NewEndpoint,
  RecoveryResult,
  ReplaySource,
  SecretAge,
} from "../../core/webhooks/endpoint.ts";
import type { HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import type { Instant } from "../../core/time.ts";
import { isSameSealedValue } from "../../storage/vault.ts";
import type { DeliveryList, DeliveryQueue, EndpointOverview } from "../delivery-queue/object.ts";
import { logError } from "../error-log.ts";
import type { QueuePusher, QueuePusherPorts } from "./queue-pusher.ts";
import * as tables from "./tables.ts";
import type { EndpointRow } from "./tables.ts";

/**
 * An endpoint with its health and its number of attempts in each hour. Both are null if its delivery queue did not respond or is not open
 * yet.
 */
export interface EndpointWithHealth {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth | null;
  readonly hours: readonly HourlyAttempts[] | null;
}

/**
 * An endpoint with the data for its page in the portal. The data is null if the endpoint's delivery queue did not respond or is not open
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

export abstract class WebhookEndpoints<E> extends DurableObject<E> {
  protected abstract readonly endpointPorts: EndpointPorts;

  get #sql(): SqlStorage {
    return this.ctx.storage.sql;
  }

  /** Sends the endpoint's settings to its delivery queue. If that fails, the alarm tries again. */
  async #pushChange(endpointId: string): Promise<void> {
    const { pusher, scheduleNextAlarm } = this.endpointPorts;
    await scheduleNextAlarm();
    pusher.pushToAll();
    await pusher.waitForPush(endpointId);
  }

  async #loadWithHealth(row: EndpointRow): Promise<EndpointWithHealth> {
    const endpoint = tables.toEndpoint(row);
    try {
      const activity = await this.endpointPorts.getQueue(row.id).getActivity();
      return { endpoint, health: activity?.health ?? null, hours: activity?.hours ?? null };
    } catch (error) {
      logError("event-sequence.health", error);
      return { endpoint, health: null, hours: null };
    }
  }

  /** Adds an endpoint, which receives only later events. Refuses if the URL is already registered or the endpoint limit is reached. */
  async addEndpoint(endpoint: NewEndpoint): Promise<AddedEndpoint> {
    if (this.isEndpointUrlTaken(endpoint.url, null)) return "url_taken";
    if (tables.listEndpointRows(this.#sql).length >= maxEndpoints) return "limit_reached";
    tables.insertEndpoint(this.#sql, endpoint, this.endpointPorts.getHead());
    await this.#pushChange(endpoint.id);
    return "added";
  }

  listEndpoints(): Promise<readonly EndpointWithHealth[]> {
    return Promise.all(tables.listEndpointRows(this.#sql).map((row) => this.#loadWithHealth(row)));
  }

  async findEndpoint(id: string): Promise<EndpointWithHealth | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    return row === null ? null : this.#loadWithHealth(row);
  }

  /** Returns true if an endpoint other than `id` has this URL. */
  isEndpointUrlTaken(url: string, id: string | null): boolean {
    const normalized = normalizeEndpointUrl(url);
    return tables.listEndpointRows(this.#sql).some((row) => row.id !== id && normalizeEndpointUrl(row.url) === normalized);
  }

  /**
   * Changes an endpoint. Returns `url_taken` and changes nothing if another endpoint has the new URL. Returns null if the endpoint does not
   * exist.
   */
  async updateEndpoint(id: string, change: EndpointChange): Promise<EndpointWithHealth | "url_taken" | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null) return null;
    if (change.url !== undefined && this.isEndpointUrlTaken(change.url, id)) return "url_taken";
    tables.updateEndpoint(this.#sql, row, change);
    await this.#pushChange(id);
    return this.findEndpoint(id);
  }

  /**
   * Replaces the secret. Until the returned time, deliveries are signed with both secrets. Returns null if the endpoint does not exist.
   * Repeating a call with the same secret does not replace it again.
   */
  async rotateSecret(id: string, secret: { readonly sealed: string; readonly hint: string }, now: Instant): Promise<Instant | null> {
    const row = tables.findEndpointRow(this.#sql, id);
    if (row === null) return null;
    if (!isSameSealedValue(row.secret_sealed, secret.sealed)) tables.rotateSecret(this.#sql, id, secret, now, secretOverlapMs);
    await this.#pushChange(id);
    return tables.findEndpointRow(this.#sql, id)?.earlier_until ?? null;
  }

  listSecretAges(): readonly SecretAge[] {
    return tables.listEndpointRows(this.#sql).map(tables.toSecretAge);
  }

  /**
   * Replaces a secret for the operator if it was created before `before`. Does nothing if the owner has already replaced it, or if an
   * earlier secret still signs. For seven days, deliveries are signed with both secrets.
   */
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

  /** Replaces sealed secrets when a master key is rotated. A new secret that the owner has set in the meantime stays in place. */
  async replaceSealedSecrets(replacements: readonly SealedReplacement[]): Promise<void> {
    this.ctx.storage.transactionSync(() => {
      for (const { from, to } of replacements) tables.replaceSealedSecret(this.#sql, from, to);
    });
    await this.endpointPorts.scheduleNextAlarm();
    this.endpointPorts.pusher.pushToAll();
  }

  /** Returns the settings and sealed secrets that are needed to send to an endpoint. Returns null if the endpoint does not exist. */
  findEndpointSettings(id: string): EndpointSettings | null {
    const row = tables.findEndpointRow(this.#sql, id);
    return row === null ? null : tables.toEndpointSettings(row, row.id, this.endpointPorts.getBusinessId());
  }

  /**
   * Removes an endpoint. After this call, only an attempt that was already in progress can still reach the receiver. Returns false if the
   * endpoint does not exist.
   */
  async removeEndpoint(id: string): Promise<boolean> {
    const { scheduleNextAlarm } = this.endpointPorts;
    if (!tables.markEndpointRemoved(this.#sql, id)) return false;
    await scheduleNextAlarm();
    await this.#finishRemoval(id);
    await scheduleNextAlarm();
    return true;
  }

  protected hasUnfinishedRemovals(): boolean {
    return tables.listRemovedEndpoints(this.#sql).length > 0;
  }

  protected async finishRemovals(): Promise<void> {
    for (const id of tables.listRemovedEndpoints(this.#sql)) await this.#finishRemoval(id);
  }

  async #finishRemoval(id: string): Promise<void> {
    const { pusher, getQueue } = this.endpointPorts;
    await pusher.waitForPush(id); // a push that is still in progress could create the queue again
    await getQueue(id).wipe();
    tables.deleteEndpoint(this.#sql, id);
    pusher.forget(id);
  }

  /** Returns the data for an endpoint's page in the portal, or null if the endpoint does not exist. */
  async findEndpointOverview(
    endpointId: string,
    limit: number,
    before: string | null,
    status: DeliveryFilter | null,
  ): Promise<EndpointWithOverview | null> {
    const row = tables.findEndpointRow(this.#sql, endpointId);
    if (row === null) return null;
    const endpoint = tables.toEndpoint(row);
    try {
      return { endpoint, overview: await this.endpointPorts.getQueue(endpointId).getOverview(limit, before, status) };
    } catch (error) {
      logError("event-sequence.overview", error);
      return { endpoint, overview: null };
    }
  }

  #findQueue(endpointId: string): DurableObjectStub<DeliveryQueue> | null {
    return tables.findEndpointRow(this.#sql, endpointId) === null ? null : this.endpointPorts.getQueue(endpointId);
  }

  /** Lists deliveries, newest first. Returns null if the endpoint does not exist or `before` is not one of its deliveries. */
  async listDeliveries(endpointId: string, limit: number, before: string | null): Promise<DeliveryList | null> {
    return (await this.#findQueue(endpointId)?.listDeliveries(limit, before)) ?? null;
  }

  /** Returns the first non-null result of `find` from the queues that can have this delivery. */
  async #findInQueues<T>(deliveryId: string, find: (queue: DurableObjectStub<DeliveryQueue>) => Promise<T | null>): Promise<T | null> {
    const candidates = tables.listEndpointRows(this.#sql).filter((row) => canHoldDelivery(row.id, deliveryId));
    const found = await Promise.all(candidates.map((row) => find(this.endpointPorts.getQueue(row.id))));
    return found.find((result) => result !== null) ?? null;
  }

  /** Returns a delivery with its endpoint, event and attempts. Returns null if none of the business's endpoints has this delivery. */
  findDeliveryRecord(deliveryId: string): Promise<DeliveryRecord | null> {
    return this.#findInQueues(deliveryId, async (queue) => queue.findRecord(deliveryId));
  }

  /** Returns the data for sending a delivery again. Returns null if none of the business's endpoints has this delivery. */
  findReplaySource(deliveryId: string): Promise<ReplaySource | null> {
    return this.#findInQueues(deliveryId, async (queue) => queue.findReplaySource(deliveryId));
  }

  /** Lists the deliveries of the events after `after` and up to `upTo`. Omits endpoints whose delivery queue does not respond. */
  async listDeliveriesBetween(after: number, upTo: number): Promise<readonly EndpointDelivery[]> {
    const results = await Promise.allSettled(
      tables.listEndpointRows(this.#sql).map(({ id }) => this.endpointPorts.getQueue(id).listDeliveriesBetween(after, upTo)),
    );
    return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  }

  /** Returns the number of attempts in each hour since `since`, oldest first. Returns null if the endpoint does not exist. */
  async listAttemptHours(endpointId: string, since: Instant): Promise<readonly HourlyAttempts[] | null> {
    return (await this.#findQueue(endpointId)?.listAttemptHours(since)) ?? null;
  }

  /** Counts the deliveries that have failed since `since`. Returns null if the endpoint does not exist. */
  async countFailedSince(endpointId: string, since: Instant): Promise<number | null> {
    return (await this.#findQueue(endpointId)?.countFailedSince(since)) ?? null;
  }

  /** Requeues deliveries that have failed since `since`. Returns null if the endpoint does not exist. */
  async recoverFailed(endpointId: string, since: Instant): Promise<RecoveryResult | null> {
    return (await this.#findQueue(endpointId)?.recoverFailed(since)) ?? null;
  }

  /** Records the result of a replay. Returns null if the endpoint or delivery does not exist. */
  async saveReplay(endpointId: string, deliveryId: string, outcome: AttemptResult): Promise<Delivery | null> {
    return (await this.#findQueue(endpointId)?.saveReplay(deliveryId, outcome)) ?? null;
  }
}
