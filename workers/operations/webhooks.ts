// Webhook endpoints as the people of a business manage them. The endpoints live in the business's log, the audit entries in its
// database, and no batch spans the two: an entry is committed before its change is made, so that a process that dies between
// them leaves an entry too many and never a change that nobody can account for. A new endpoint is the other way round (only
// the log knows whether there is room) and is taken back when its entry was not committed.
import type { MemberSession } from "../../core/access/session.ts";
import { canonicalJson, type Json } from "../../core/canonical-json.ts";
import { eventTypes, namedOnlyEventTypes } from "../../core/events/event.ts";
import type { Fact, FactType } from "../../core/facts.ts";
import { sha256Hex } from "../../core/hash.ts";
import { homeOfId, newId } from "../../core/ids.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { lineFault, trimmed } from "../../core/text.ts";
import { isoOf, isoOrNull } from "../../core/time.ts";
import type { Delivery, Endpoint, EndpointChange, EndpointHealth, EndpointStatus } from "../../core/webhooks/endpoint.ts";
import { secretBytes, secretHint, webhookSecret } from "../../core/webhooks/signature.ts";
import type { Database, Statement } from "../../storage/database.ts";
import { isEntered } from "../../storage/audit.ts";
import { commit } from "../../storage/commit.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, keptAnswer } from "../../storage/idempotency.ts";
import { openSecret, sealSecret } from "../../storage/webhook-secrets.ts";
import type { Services } from "../services.ts";
import { replayDelivery, testEndpoint } from "./webhook-calls.ts";

type JsonObject = { readonly [key: string]: Json };

const databaseOf = (services: Services, { business }: MemberSession): Database => services.homes.of(business.id) as Database;
const logOf = (services: Services, { business }: MemberSession) => services.businessLog(business.id);

type WebhookFact = Extract<FactType, `webhook.${string}`>;

const factOf = (services: Services, member: MemberSession, type: WebhookFact, endpointId: string, more: JsonObject = {}): Fact => ({
  type,
  entityType: "webhook",
  entityId: endpointId,
  at: services.clock(),
  chains: [member.business.chain],
  actor: { kind: "member", id: member.userId },
  payload: more,
});

/** Commits an entry of the audit chain, with rows beside it; throws when it cannot. */
const enter = async (services: Services, member: MemberSession, fact: Fact, rows: readonly Statement[] = []): Promise<void> => {
  const store = { db: databaseOf(services, member), vault: services.vault, ledgerId: services.config.ledger.id };
  await commit(store, rows, [fact]);
  services.scheduleFollowUp();
};

// What was asked for

export const longestDescription = 200;
const knownTypes: ReadonlySet<string> = new Set([...eventTypes, ...namedOnlyEventTypes]);

/** Every type there is to choose from, as documented. */
export const choosableEventTypes = [...eventTypes, ...namedOnlyEventTypes] as const;

/** Sorted as documented, each once; null is every ordinary type, now and later. */
const readEvents = (events: readonly string[] | null): Result<readonly string[] | null, "invalid_request"> => {
  if (events === null) return ok(null);
  if (events.length === 0) return refuse("invalid_request", "events: must name at least one type, or be left out for all.");
  if (events.some((type) => !knownTypes.has(type))) return refuse("invalid_request", "events: must be types of event that exist.");
  return ok(choosableEventTypes.filter((type) => events.includes(type)));
};

const readDescription = (text: string | null): Result<string | null, "invalid_request"> => {
  const description = text === null ? "" : trimmed(text);
  if (description.length > longestDescription)
    return refuse("invalid_request", `description: must be at most ${longestDescription} characters.`);
  const fault = lineFault(description);
  return fault === null ? ok(description === "" ? null : description) : refuse("invalid_request", `description: ${fault}.`);
};

// Answers

const endpointView = (endpoint: Endpoint): JsonObject => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...(endpoint.events ?? eventTypes)],
  description: endpoint.description,
  status: endpoint.status,
});

interface EndpointState {
  readonly endpoint: Endpoint;
  /** Null where its lane did not answer: then nobody knows. */
  readonly health: EndpointHealth | null;
}

const stateView = ({ endpoint, health }: EndpointState): JsonObject => ({
  ...endpointView(endpoint),
  secret_hint: endpoint.secretHint,
  created_at: isoOf(endpoint.createdAt),
  last_delivery_at: isoOrNull(health?.lastDeliveryAt ?? null),
  last_response_status: health?.lastResponseStatus ?? null,
  consecutive_failures: health?.consecutiveFailures ?? null,
  failing_since: isoOrNull(health?.failingSince ?? null),
  backlog: health?.backlog ?? null,
  oldest_pending_at: isoOrNull(health?.oldestPendingAt ?? null),
});

const deliveryView = (delivery: Delivery): JsonObject => ({
  id: delivery.id,
  webhook_id: delivery.webhookId,
  event_id: delivery.eventId,
  event_type: delivery.eventType,
  status: delivery.status,
  attempt: delivery.attempt,
  response_status: delivery.responseStatus,
  error: delivery.error,
  duration_ms: delivery.durationMs,
  next_attempt_at: isoOrNull(delivery.nextAttemptAt),
  delivered_at: isoOrNull(delivery.deliveredAt),
  created_at: isoOf(delivery.createdAt),
});

// Create

export interface WebhookRequest {
  readonly url: string;
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly idempotencyKey: string | null;
}

type CreateRefusal = "invalid_request" | "invalid_webhook_url" | "webhook_limit" | "idempotency_conflict";

export interface CreatedWebhook {
  /** The answer's data; the only one that holds the secret unasked. */
  readonly webhook: JsonObject;
  readonly replayed: boolean;
}

/** Registers an endpoint; it hears of what happens from now on. One `idempotencyKey` makes one endpoint. */
export const createWebhook = async (
  services: Services,
  member: MemberSession,
  request: WebhookRequest,
): Promise<Result<CreatedWebhook, CreateRefusal>> => {
  const events = readEvents(request.events);
  if (!events.ok) return events;
  const description = readDescription(request.description);
  if (!description.ok) return description;
  if (!(await services.mayBeWebhook(request.url))) return refuse("invalid_webhook_url");

  const db = databaseOf(services, member);
  const { vault } = services;
  const wanted = { url: request.url, events: events.value === null ? null : [...events.value], description: description.value };
  const keyHash = request.idempotencyKey === null ? null : idempotencyKeyHash(member.userId, "POST /v1/webhooks", request.idempotencyKey);
  const bodyHash = sha256Hex(canonicalJson(wanted));
  const kept = async (): Promise<Result<CreatedWebhook, CreateRefusal> | null> => {
    const answer = keyHash === null ? null : await keptAnswer(db, vault, keyHash, services.clock());
    if (answer === null) return null;
    if (answer.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    return ok({ webhook: JSON.parse(answer.response) as JsonObject, replayed: true });
  };
  const earlier = await kept();
  if (earlier !== null) return earlier;

  const now = services.clock();
  const businessId = member.business.id;
  const id = newId("whk_", homeOfId(businessId), services.random);
  const secret = webhookSecret(services.random(secretBytes));
  const secretSealed = await sealSecret(vault, { endpointId: id, businessId }, secret);
  const endpoint = { id, ...wanted, secretSealed, secretHint: secretHint(secret), createdAt: now };
  const log = logOf(services, member);
  if (!(await log.addEndpoint(endpoint))) return refuse("webhook_limit");
  const webhook = { ...endpointView({ ...endpoint, status: "enabled" }), secret, created_at: isoOf(now) };
  try {
    const response = JSON.stringify(webhook);
    const rows = keyHash === null ? [] : await insertAnswer(db, vault, { keyHash, bodyHash, status: 201, response, now });
    await enter(services, member, factOf(services, member, "webhook.created", id, { url_hash: sha256Hex(request.url) }), rows);
  } catch (error) {
    // Only the answer of the commit may have been lost. While nobody can tell, this throws and the endpoint stays: it can be seen
    // and removed, and an answer that may be kept names no endpoint that is gone.
    if (!(await isEntered(db, id))) {
      await log.removeEndpoint(id);
      const first = isTakenKey(error) ? await kept() : null; // the same request, twice at once: the other one made it
      if (first !== null) return first;
      throw error;
    }
    services.scheduleFollowUp();
  }
  return ok({ webhook, replayed: false });
};

// Read and change

/** Oldest first. */
export const listWebhooks = async (services: Services, member: MemberSession): Promise<JsonObject> => ({
  webhooks: (await logOf(services, member).endpoints()).map(stateView),
});

export interface WebhookChange {
  readonly url?: string;
  readonly events?: readonly string[] | null;
  readonly description?: string | null;
  readonly status?: EndpointStatus;
}

const readChange = async (
  services: Services,
  asked: WebhookChange,
): Promise<Result<EndpointChange, "invalid_request" | "invalid_webhook_url">> => {
  const events = asked.events === undefined ? ok(undefined) : readEvents(asked.events);
  if (!events.ok) return events;
  const description = asked.description === undefined ? ok(undefined) : readDescription(asked.description);
  if (!description.ok) return description;
  if (asked.url !== undefined && !(await services.mayBeWebhook(asked.url))) return refuse("invalid_webhook_url");
  return ok({
    ...(asked.url !== undefined && { url: asked.url }),
    ...(events.value !== undefined && { events: events.value }),
    ...(description.value !== undefined && { description: description.value }),
    ...(asked.status !== undefined && { status: asked.status }),
  });
};

export const changeWebhook = async (
  services: Services,
  member: MemberSession,
  id: string,
  asked: WebhookChange,
): Promise<Result<JsonObject, "not_found" | "invalid_request" | "invalid_webhook_url">> => {
  const log = logOf(services, member);
  const before = await log.endpoint(id);
  if (before === null) return refuse("not_found");
  const change = await readChange(services, asked);
  if (!change.ok) return change;
  const changed = Object.keys(change.value).sort();
  if (changed.length === 0) return ok(stateView(before));
  const url = change.value.url === undefined ? {} : { url_hash: sha256Hex(change.value.url) };
  await enter(services, member, factOf(services, member, "webhook.changed", id, { changed, ...url }));
  const after = await log.changeEndpoint(id, change.value);
  return after === null ? refuse("not_found") : ok(stateView(after));
};

/** The secret in force, to an owner, once it stands in the audit chain who asked for it. */
export const revealSecret = async (services: Services, member: MemberSession, id: string): Promise<Result<JsonObject, "not_found">> => {
  const settings = await logOf(services, member).settings(id);
  if (settings === null) return refuse("not_found");
  const owner = { endpointId: id, businessId: member.business.id };
  const secret = await openSecret(services.vault, owner, settings.secretSealed);
  await enter(services, member, factOf(services, member, "webhook.secret_revealed", id));
  return ok({ id, secret });
};

/**
 * The new secret signs from now on; the one before it signs beside it for a day, so that receivers can change over. `draft`
 * answers with the sealed secret to use: rotating anew where a first try died would end the one that receivers know.
 */
export const rotateSecret = async (
  services: Services,
  member: MemberSession,
  id: string,
  draft: (sealed: string) => Promise<string>,
): Promise<Result<JsonObject, "not_found">> => {
  const log = logOf(services, member);
  if ((await log.settings(id)) === null) return refuse("not_found");
  const owner = { endpointId: id, businessId: member.business.id };
  const sealed = await draft(await sealSecret(services.vault, owner, webhookSecret(services.random(secretBytes))));
  const secret = await openSecret(services.vault, owner, sealed);
  await enter(services, member, factOf(services, member, "webhook.secret_rotated", id));
  const until = await log.rotateSecret(id, { sealed, hint: secretHint(secret) }, services.clock());
  return until === null ? refuse("not_found") : ok({ id, secret, previous_secret_until: isoOf(until) });
};

export const deleteWebhook = async (services: Services, member: MemberSession, id: string): Promise<Result<JsonObject, "not_found">> => {
  const log = logOf(services, member);
  if ((await log.settings(id)) === null) return refuse("not_found");
  await enter(services, member, factOf(services, member, "webhook.deleted", id));
  return (await log.removeEndpoint(id)) ? ok({ deleted: true, id }) : refuse("not_found");
};

// Deliveries

/** Newest first, from behind `before` on. */
export const listDeliveries = async (
  services: Services,
  member: MemberSession,
  id: string,
  page: { readonly limit: number; readonly before: string | null },
): Promise<Result<JsonObject, "not_found" | "invalid_request">> => {
  const log = logOf(services, member);
  if ((await log.settings(id)) === null) return refuse("not_found");
  const found = await log.deliveries(id, page.limit, page.before);
  if (found === null) return refuse("invalid_request", "before: must be the id of a delivery to this endpoint.");
  return ok({ deliveries: found.deliveries.map(deliveryView), has_more: found.hasMore });
};

/** Sends `test.ping` now. It is written down nowhere. */
export const testWebhook = async (services: Services, member: MemberSession, id: string): Promise<Result<JsonObject, "not_found">> => {
  const sent = await testEndpoint(services, member.business.id, id);
  if (!sent.ok) return sent;
  const { delivered, responseStatus, durationMs } = sent.value;
  return ok({ delivered, response_status: responseStatus, duration_ms: durationMs });
};

export const replayWebhookDelivery = async (
  services: Services,
  member: MemberSession,
  deliveryId: string,
): Promise<Result<JsonObject, "not_found" | "share_inactive">> => {
  const sent = await replayDelivery(services, member.business.id, deliveryId);
  if (!sent.ok) return sent;
  const { delivered, responseStatus, durationMs, delivery } = sent.value;
  return ok({ delivered, response_status: responseStatus, duration_ms: durationMs, delivery: deliveryView(delivery) });
};
