// Commits events as operations do, registers webhook endpoints, and calls event sequences and delivery queues.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { EventType, StoredEvent } from "../../core/events/event.ts";
import { sha256Hex } from "../../core/hash.ts";
import { firstShard, generateId, generateSecret, type WebhookId } from "../../core/ids.ts";
import { secretLength, formatSecretHint, formatWebhookSecret } from "../../core/webhooks/signature.ts";
import { findNextDueAt } from "../../durable-objects/delivery-queue/deliveries.ts";
import { hasDeliveryTables } from "../../durable-objects/delivery-queue/queue-row.ts";
import type { EventSequence } from "../../durable-objects/event-sequence/object.ts";
import type { DeliveryQueue } from "../../durable-objects/delivery-queue/object.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import { changes } from "../../storage/schema.ts";
import { sealWebhookSecret } from "../../storage/webhook-secrets.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";

const createRandomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));

export const eventSequences = env.EVENT_SEQUENCE;
export const deliveryQueues = env.DELIVERY_QUEUE;
export const destinationHosts = env.DESTINATION_HOST;
export type EventSequenceStub = DurableObjectStub<EventSequence>;
export type DeliveryQueueStub = DurableObjectStub<DeliveryQueue>;

/**
 * Methods that a test replaces. The type allows only names of existing methods, because a replacement would have no effect after its
 * method is renamed.
 */
export type EventSequenceMethods = Partial<Record<keyof EventSequence, unknown>>;
export type DeliveryQueueMethods = Partial<Record<keyof DeliveryQueue, unknown>>;

/** Creates a business that no other test in the file uses. */
export const createBusiness = async (): Promise<string> => {
  const id = generateId("biz_", firstShard, createRandomBytes);
  await env.DB.prepare(
    "INSERT INTO businesses (id, name, status, plan, audit_chain, created_at) VALUES (?, 'Test', 'active', 'enterprise', ?, 0)",
  )
    .bind(id, crypto.randomUUID().replaceAll("-", ""))
    .run();
  return id;
};

const db = openDatabase(env.DB);

/** Builds the statement that inserts a change, which the business then receives as an event. */
export const buildEventRow = (businessId: string, change: Partial<StoredEvent> = {}) => {
  const { id = crypto.randomUUID(), type = "certificate.revoked", createdAt = Date.now(), shareId = null, certId, dataSealed } = change;
  const entityType = shareId === null ? "certificate" : "share";
  const entityId = shareId ?? certId ?? generateId("cc_", firstShard, createRandomBytes);
  const event = { sequence: businessId, eventDataSealed: dataSealed };
  return db.insert(changes).values({ id, type: type as EventType, entityType, entityId, at: createdAt, ...event });
};

/** Commits events as operations do. Returns their IDs in order. */
export const commitEvents = async (businessId: string, count: number, change: Partial<StoredEvent> = {}): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => crypto.randomUUID() as string);
  for (let at = 0; at < count; at += 500)
    await batch(
      db,
      ids.slice(at, at + 500).map((id) => buildEventRow(businessId, { id, ...change })),
    );
  return ids;
};

export interface RegisteredEndpoint {
  readonly id: string;
  readonly secret: string;
  readonly queue: DeliveryQueueStub;
}

/** Registers an endpoint as the API does. */
export const registerEndpoint = async (
  businessId: string,
  url: string,
  events: readonly string[] | null = null,
): Promise<RegisteredEndpoint> => {
  const platform = await getPlatform(env);
  const id = generateId("whk_", firstShard, createRandomBytes) as WebhookId;
  const secret = formatWebhookSecret(createRandomBytes(secretLength));
  const added = await eventSequences.getByName(businessId).addEndpoint({
    id,
    url,
    events,
    description: null,
    secretSealed: await sealWebhookSecret(platform.vault, { endpointId: id, businessId }, secret),
    secretHint: formatSecretHint(secret),
    createdAt: Date.now(),
  });
  if (added !== "added") throw new Error(added);
  return { id, secret, queue: deliveryQueues.getByName(id) };
};

/** Records that the host of `url` has returned 2xx for this business, so that the queue does not pause between attempts. */
export const proveHost = (businessId: string, url: string): Promise<void> =>
  destinationHosts.getByName(new URL(url).hostname).recordSuccess(businessId, Date.now());

export const getAlarm = (stub: EventSequenceStub | DeliveryQueueStub): Promise<number | null> =>
  runInDurableObject(stub as DeliveryQueueStub, (_, state) => state.storage.getAlarm());

export const runAlarm = (stub: EventSequenceStub | DeliveryQueueStub): Promise<boolean> => runDurableObjectAlarm(stub as DeliveryQueueStub);

/** Returns every event in a business's sequence. */
export const readSequence = async (businessId: string): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let cursor = 0; ; ) {
    const page = await eventSequences.getByName(businessId).listEvents(cursor, 500, null);
    events.push(...page.events);
    if (page.readThrough >= page.head) return events;
    cursor = page.readThrough;
  }
};

export interface ReceivedPost {
  readonly at: number;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

type Receiver = (post: ReceivedPost, signal: AbortSignal) => Response | Promise<Response>;

/** Returns the DNS response for a host: its IPv4 addresses, or a complete response. */
type Resolver = (name: string) => readonly string[] | Response;

/**
 * Mocks fetch. `resolver` responds to DNS queries, and `receiver` to all other requests. The returned array collects these other requests
 * in order.
 */
export const mockReceivers = (receiver: Receiver, resolver: Resolver = () => ["93.184.216.34"]): ReceivedPost[] => {
  const posts: ReceivedPost[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    const url = new URL(request.url);
    if (url.searchParams.has("type") && request.method === "GET") {
      const name = url.searchParams.get("name") as string;
      const found = resolver(name);
      if (found instanceof Response) return found;
      const records = url.searchParams.get("type") === "A" ? found.map((data) => ({ name, type: 1, TTL: 60, data })) : [];
      return Response.json({ Status: found.length === 0 ? 3 : 0, Answer: records });
    }
    const post = { at: Date.now(), url: request.url, headers: request.headers, body: await request.text() };
    posts.push(post);
    const response = await receiver(post, request.signal);
    // Follows redirects, as the runtime does by default.
    if (request.redirect === "follow" && response.headers.has("location"))
      posts.push({ ...post, url: response.headers.get("location") as string });
    return response;
  });
  return posts;
};

/**
 * Returns the time when the next delivery is due, or null if none is pending. Does not read the alarm, because in development the alarm
 * also fires every minute.
 */
const getNextDueAt = (queue: DeliveryQueueStub): Promise<number | null> =>
  runInDurableObject(queue, (_, { storage: { sql } }) => (hasDeliveryTables(sql) ? findNextDueAt(sql) : null));

/**
 * Runs the queue's alarms at the times when deliveries are due, until no delivery is left or until the time `until`. Needs a fake clock set
 * in the future.
 */
export const runAlarmsUntil = async (queue: DeliveryQueueStub, until = Number.POSITIVE_INFINITY): Promise<void> => {
  for (let due = await getNextDueAt(queue); due !== null; due = await getNextDueAt(queue)) {
    const alarm = await getAlarm(queue);
    if (alarm === null) throw new Error("the queue has due deliveries and no alarm");
    const at = Math.max(alarm, due);
    if (at > until) return;
    vi.setSystemTime(Math.max(Date.now(), at));
    await runAlarm(queue);
  }
};

/** Runs the queue's alarms, each at its own time, until no delivery is left. Calls `before` before each one. */
export const runEveryAlarm = async (queue: DeliveryQueueStub, before: (at: number) => Promise<void>): Promise<void> => {
  while ((await getNextDueAt(queue)) !== null) {
    const at = await getAlarm(queue);
    if (at === null) throw new Error("the queue has due deliveries and no alarm");
    await before(at);
    vi.setSystemTime(Math.max(Date.now(), at));
    await runAlarm(queue);
  }
};

/** A time so far in the future that no alarm fires on its own. */
export const farAhead = Date.UTC(2050, 0, 1);

export const createApiKey = async (businessId: string): Promise<string> => {
  const key = generateSecret("sk_live_", firstShard, createRandomBytes);
  await env.DB.prepare(
    "INSERT INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at) VALUES (?, ?, 'live', ?, 'Test', ?, 0)",
  )
    .bind(generateId("key_", firstShard, createRandomBytes), businessId, sha256Hex(key), key.slice(-4))
    .run();
  return key;
};
