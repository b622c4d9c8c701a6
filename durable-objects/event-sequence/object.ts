// The event sequence of one business in one environment. It numbers the business's events without gaps and stores the webhook endpoints. It
// reads the events from the change logs in the business's databases. If the process dies, no event is lost or numbered twice. The sequence
// recognizes events that it has already stored, and an alarm that is stored together with new events pushes them to the delivery queues.
import { DurableObject } from "cloudflare:workers";
import { parseEventSequenceName, type EventSequenceOwner } from "../../core/events/event-sequence-name.ts";
import type { StoredEvent } from "../../core/events/event.ts";
import { shardOfId, type BusinessId, type ShardId } from "../../core/ids.ts";
import type {
  AddedEndpoint,
  AttemptResult,
  Delivery,
  DeliveryFilter,
  DeliveryPage,
  DeliveryRecord,
  EndpointChange,
  EndpointDelivery,
  EndpointSettings,
  NewEndpoint,
  RecoveryResult,
  SecretAge,
} from "../../core/webhooks/endpoint.ts";
import type { HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import type { Instant } from "../../core/time.ts";
import { backgroundTimeoutMs, type Database } from "../../storage/database.ts";
import { listIssuingShards } from "../../storage/issuing-shards.ts";
import { openShards, type Shards } from "../../storage/shards.ts";
import type { DeliveryQueue } from "../delivery-queue/object.ts";
import { migrateSchema } from "../schema-steps.ts";
import { logError } from "../error-log.ts";
import { EventArchive, isSegmentName } from "./archive.ts";
import { Endpoints, type EndpointWithHealth, type EndpointWithOverview, type SealedReplacement } from "./endpoints.ts";
import { QueuePusher, safetyAlarmMs } from "./queue-pusher.ts";
import { eventSequenceSteps } from "./migrations.ts";
import { Sequence, type EventPage } from "./sequence.ts";
import * as tables from "./tables.ts";

export interface EventSequenceEnv {
  readonly EVENT_SEQUENCE: DurableObjectNamespace<EventSequence>;
  readonly DELIVERY_QUEUE: DurableObjectNamespace<DeliveryQueue>;
  /** The database size in bytes at which events are moved to a segment. Set only in development, to test segments with a few events. */
  readonly DEV_EVENT_SEQUENCE_BYTES?: unknown;
  readonly [name: string]: unknown;
}

/**
 * Opens the database that contains the business's account, and the other databases that contain its certificates. With a single shard, this
 * takes no query.
 */
const openOwnerDatabases = async (shards: Shards, businessId: BusinessId): Promise<readonly (readonly [ShardId, Database])[]> => {
  const ownShard = shardOfId(businessId);
  const ownDb = shards.get(ownShard);
  const others = shards.all().length === 1 ? [] : await listIssuingShards(ownDb, businessId);
  return [[ownShard, ownDb], ...others.map(({ shard }) => [shard, shards.get(shard)] as const)];
};

export class EventSequence<E extends EventSequenceEnv = EventSequenceEnv> extends DurableObject<E> {
  readonly #archive: EventArchive;
  readonly #sequence: Sequence;
  readonly #pusher: QueuePusher;
  readonly #endpoints: Endpoints;
  /** The alarm time, or null if this process has not set an alarm. */
  #alarmAt: Instant | null = null;

  constructor(ctx: DurableObjectState, env: E) {
    super(ctx, env);
    const { storage } = ctx;
    migrateSchema(storage, eventSequenceSteps);
    // When the platform starts an object for an alarm, `ctx.id.name` may be missing. The object therefore stores its name when it first
    // sees it.
    if (ctx.id.name !== undefined && tables.findName(storage.sql) === null) tables.saveName(storage.sql, ctx.id.name);
    const archive = new EventArchive(
      storage,
      (name) => env.EVENT_SEQUENCE.getByName(name),
      () => this.#getName(),
      env.DEV_EVENT_SEQUENCE_BYTES,
    );
    this.#archive = archive;
    const scheduleNextAlarm = (): Promise<void> => this.#scheduleNextAlarm();
    this.#sequence = new Sequence(storage, {
      archive,
      getName: () => this.#getName(),
      openDatabases: () => openOwnerDatabases(openShards(env, backgroundTimeoutMs), this.#getOwner().businessId as BusinessId),
      onAppended: () => {
        this.#pusher.saveProgress();
        const armed = this.#scheduleNextAlarm();
        this.#pusher.pushToAll();
        return armed;
      },
      scheduleNextAlarm,
    });
    const queuePorts = {
      getHead: () => this.#sequence.head,
      getBusinessId: () => this.#getOwner().businessId,
      getEnvironment: () => this.#getOwner().environment,
      getQueue: (endpointId: string) => env.DELIVERY_QUEUE.getByName(endpointId),
      scheduleNextAlarm,
    };
    this.#pusher = new QueuePusher(storage, { archive, ...queuePorts });
    this.#endpoints = new Endpoints(storage, { pusher: this.#pusher, ...queuePorts });
  }

  #getName(): string {
    const name = tables.findName(this.ctx.storage.sql);
    if (name === null) throw new Error("event sequence has no stored name");
    return name;
  }

  #getOwner(): EventSequenceOwner {
    return parseEventSequenceName(this.#getName());
  }

  /**
   * Sets an alarm if there is work left. Does not delete an alarm that is no longer needed, because deleting it and setting the next one
   * would take two writes.
   */
  #scheduleNextAlarm(): Promise<void> {
    const now = Date.now();
    const times = [
      ...this.#pusher.listAlarmTimes(now),
      this.#endpoints.hasUnfinishedRemovals ? now + safetyAlarmMs : null,
      this.#sequence.retryAt,
      this.#archive.getNextMoveAt(now),
    ].filter((at) => at !== null);
    const next = Math.min(...times);
    if (times.length === 0 || (this.#alarmAt !== null && this.#alarmAt > now && this.#alarmAt <= next)) return Promise.resolve();
    this.#alarmAt = Math.max(now + 1, next);
    return this.ctx.storage.setAlarm(this.#alarmAt);
  }

  /** Resumes unfinished work. Never rejects, because the platform retries a failing alarm six times and then drops it. */
  override async alarm(): Promise<void> {
    try {
      this.#alarmAt = Date.now() + safetyAlarmMs;
      await this.ctx.storage.setAlarm(this.#alarmAt);
      const removals = this.#endpoints.finishRemovals();
      await this.#sequence.drain();
      this.#pusher.pushToAll();
      await Promise.all([this.#pusher.waitForPushes(), removals]);
      this.#pusher.saveProgress();
      await this.ctx.storage.deleteAlarm();
      this.#alarmAt = null;
      await this.#scheduleNextAlarm();
    } catch (error) {
      logError("event-sequence.alarm", error);
    }
  }

  /**
   * Appends the events that were committed before the call, and pushes them to the delivery queues. Never rejects. If the events cannot be
   * read, returns false, and an alarm tries again.
   */
  async drain(): Promise<boolean> {
    const isDone = await this.#sequence.drain();
    await this.#pusher.waitForPushes();
    return isDone;
  }

  /**
   * Returns up to `limit` events after `cursor`, of the given types or of all types (SPEC Events). Rejects if a segment does not respond.
   */
  listEvents(cursor: number, limit: number, types: readonly string[] | null): Promise<EventPage> {
    return this.#sequence.listEvents(cursor, limit, types);
  }

  /** Implements `Segment.saveToSegment`. Throws if this object is not a segment. */
  saveToSegment(events: readonly StoredEvent[]): number {
    if (!isSegmentName(this.#getName())) throw new Error("event sequence is not a segment");
    const { storage } = this.ctx;
    return storage.transactionSync(() => tables.insertSegmentEvents(storage.sql, events));
  }

  listSegmentEvents(after: number, upTo: number, types: readonly string[] | null, limit: number): readonly StoredEvent[] {
    return tables.listEventsBetween(this.ctx.storage.sql, after, upTo, types, limit);
  }

  listKnownIds(ids: readonly string[]): readonly string[] {
    return tables.filterKnownIds(this.ctx.storage.sql, ids);
  }

  /**
   * Adds an endpoint, which receives only later events. Returns `url_taken` if an endpoint already has the URL, and `limit_reached` if the
   * business has the maximum number of endpoints.
   */
  addEndpoint(endpoint: NewEndpoint): Promise<AddedEndpoint> {
    return this.#endpoints.add(endpoint);
  }

  listEndpoints(): Promise<readonly EndpointWithHealth[]> {
    return this.#endpoints.list();
  }

  findEndpoint(id: string): Promise<EndpointWithHealth | null> {
    return this.#endpoints.find(id);
  }

  /** Returns true if an endpoint other than `id` has this URL. */
  isEndpointUrlTaken(url: string, id: string): boolean {
    return this.#endpoints.isUrlTaken(url, id);
  }

  /**
   * Changes an endpoint. Returns `url_taken` and changes nothing if another endpoint has the new URL. Returns null if the endpoint does not
   * exist.
   */
  updateEndpoint(id: string, change: EndpointChange): Promise<EndpointWithHealth | "url_taken" | null> {
    return this.#endpoints.update(id, change);
  }

  /**
   * Replaces the secret. Until the returned time, deliveries are signed with both secrets. Returns null if the endpoint does not exist.
   * Repeating a call with the same secret does not replace it again. If `replacedHint` is given and the current secret has another hint,
   * returns `outdated` and changes nothing.
   */
  rotateSecret(
    id: string,
    secret: { readonly sealed: string; readonly hint: string },
    now: Instant,
    replacedHint: string | null = null,
  ): Promise<Instant | "outdated" | null> {
    return this.#endpoints.rotateSecret(id, secret, now, replacedHint);
  }

  listSecretAges(): readonly SecretAge[] {
    return this.#endpoints.listSecretAges();
  }

  /**
   * Replaces a secret on behalf of the operator. For seven days, deliveries are signed with both secrets. Does nothing if the current
   * secret was not created before `before`, or if deliveries are still signed with an earlier secret too.
   */
  replaceSecret(id: string, secret: { readonly sealed: string; readonly hint: string }, before: Instant, now: Instant): Promise<void> {
    return this.#endpoints.replaceSecret(id, secret, before, now);
  }

  listSealedSecrets(): readonly string[] {
    return this.#endpoints.listSealedSecrets();
  }

  /** Replaces sealed secrets when a master key is rotated. Keeps a secret that the owner has changed in the meantime. */
  replaceSealedSecrets(replacements: readonly SealedReplacement[]): Promise<void> {
    return this.#endpoints.replaceSealedSecrets(replacements);
  }

  /** Returns the settings and sealed secrets that are needed to send to an endpoint. Returns null if the endpoint does not exist. */
  findEndpointSettings(id: string): EndpointSettings | null {
    return this.#endpoints.findSettings(id);
  }

  /**
   * Removes an endpoint. After this call, only an attempt that was already in progress can still reach the receiver. Returns false if the
   * endpoint does not exist.
   */
  removeEndpoint(id: string): Promise<boolean> {
    return this.#endpoints.remove(id);
  }

  /** Returns the data for an endpoint's page in the portal, or null if the endpoint does not exist. */
  findEndpointOverview(
    endpointId: string,
    limit: number,
    before: string | null,
    status: DeliveryFilter | null,
  ): Promise<EndpointWithOverview | null> {
    return this.#endpoints.findWithOverview(endpointId, limit, before, status);
  }

  /** Lists deliveries, newest first. Returns null if the endpoint does not exist or `before` is not one of its deliveries. */
  listDeliveries(endpointId: string, limit: number, before: string | null): Promise<DeliveryPage | null> {
    return this.#endpoints.callQueue(endpointId, async (queue) => queue.listDeliveries(limit, before));
  }

  /** Returns a delivery with its endpoint, event and attempts. Returns null if none of the business's endpoints has this delivery. */
  findDeliveryRecord(deliveryId: string): Promise<DeliveryRecord | null> {
    return this.#endpoints.findDeliveryRecord(deliveryId);
  }

  /**
   * Lists the deliveries of the events with sequence numbers above `after` and up to `upTo`. Omits endpoints whose delivery queue does not
   * respond.
   */
  listDeliveriesBetween(after: number, upTo: number): Promise<readonly EndpointDelivery[]> {
    return this.#endpoints.listDeliveriesBetween(after, upTo);
  }

  /** Returns the number of attempts in each hour since `since`, oldest first. Returns null if the endpoint does not exist. */
  listAttemptHours(endpointId: string, since: Instant): Promise<readonly HourlyAttempts[] | null> {
    return this.#endpoints.callQueue(endpointId, async (queue) => queue.listAttemptHours(since));
  }

  /** Counts the deliveries that have failed since `since`. Returns null if the endpoint does not exist. */
  countFailedSince(endpointId: string, since: Instant): Promise<number | null> {
    return this.#endpoints.callQueue(endpointId, async (queue) => queue.countFailedSince(since));
  }

  /** Requeues deliveries that have failed since `since`. Returns null if the endpoint does not exist. */
  recoverFailed(endpointId: string, since: Instant): Promise<RecoveryResult | null> {
    return this.#endpoints.callQueue(endpointId, async (queue) => queue.recoverFailed(since));
  }

  /** Records the result of a replay. Returns null if the endpoint or delivery does not exist. */
  saveReplay(endpointId: string, deliveryId: string, outcome: AttemptResult): Promise<Delivery | null> {
    return this.#endpoints.callQueue(endpointId, async (queue) => queue.saveReplay(deliveryId, outcome));
  }
}
