// Implements POST /v1/webhooks. Adds the endpoint before it commits the audit entry, because only the event sequence knows whether the
// limit is reached. Removes the endpoint again if the entry cannot be committed.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { standardEventTypes } from "../../../core/events/event.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId, generateId, type WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { RegisteredEndpoint } from "../../../core/webhooks/endpoint.ts";
import { parseLine } from "../../../core/text.ts";
import { parseSelectedEvents, maxDescriptionLength } from "../../../core/webhooks/event-selection.ts";
import { secretLength, formatSecretHint, formatWebhookSecret } from "../../../core/webhooks/signature.ts";
import { hasAuditEntry } from "../../../storage/audit-entries.ts";
import { idempotencyKeyHash, insertIdempotentResponse, isIdempotencyKeyTaken } from "../../../storage/idempotency.ts";
import { sealWebhookSecret } from "../../../storage/webhook-secrets.ts";
import { commitWithAudit } from "../portal/commit-with-audit.ts";
import { findEarlierResult, type IdempotentResult } from "../portal/create-once.ts";
import type { WebhookWriteDependencies } from "./dependencies.ts";

export interface CreateWebhookRequest {
  readonly url: string;
  /** The event types to receive. If null, the endpoint receives all standard event types, including future ones. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  /** The environment whose events the endpoint receives. It cannot be changed later. */
  readonly environment: Environment;
  readonly idempotencyKey: string | null;
}

type CreateWebhookRefusal = "invalid_request" | "invalid_webhook_url" | "webhook_exists" | "webhook_limit" | "idempotency_conflict";

// If a concurrent request with the same idempotency key has added the endpoint, wait up to half a second for its response.
const concurrentWaitMs = 100;
const maxConcurrentWaits = 5;

/**
 * Adds an endpoint that receives events from now on. Each idempotency key creates at most one endpoint, and a URL can be registered only
 * once per environment. Can return `invalid_request`, `invalid_webhook_url`, `idempotency_conflict`, `webhook_exists` and `webhook_limit`.
 */
export const createWebhook = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  request: CreateWebhookRequest,
): Promise<Result<IdempotentResult<RegisteredEndpoint>, CreateWebhookRefusal>> => {
  const { environment, url } = request;
  const events = parseSelectedEvents(request.events);
  if (!events.ok) return events;
  const description = parseLine("description", request.description, maxDescriptionLength);
  if (!description.ok) return description;
  const fault = await services.findWebhookUrlFault(url);
  if (fault !== null) return refuse("invalid_webhook_url", `url: ${fault}.`);

  const db = services.shards.forId(member.business.id);
  const { vault } = services;
  const settings = { url, events: events.value, description: description.value };
  const keyHash = request.idempotencyKey === null ? null : idempotencyKeyHash(member.userId, "POST /v1/webhooks", request.idempotencyKey);
  const bodyHash = sha256Hex(toCanonicalJson({ ...settings, ...(environment === "sandbox" && { environment }) }));
  const findEarlier = () => findEarlierResult<RegisteredEndpoint>(services, db, keyHash, bodyHash);
  const earlier = await findEarlier();
  if (earlier !== null) return earlier;

  const now = services.clock();
  const businessId = member.business.id;
  const id = generateId("whk_", shardOfId(businessId), services.random) as WebhookId;
  const secret = formatWebhookSecret(services.random(secretLength));
  const secretSealed = await sealWebhookSecret(vault, { endpointId: id, businessId }, secret);
  const eventSequence = services.eventSequence(businessId, environment);
  const newEndpoint = { id, ...settings, secretSealed, secretHint: formatSecretHint(secret), createdAt: now };
  let added = await eventSequence.addEndpoint(newEndpoint);
  for (let waits = 0; added === "url_taken" && keyHash !== null && waits < maxConcurrentWaits; waits += 1) {
    await scheduler.wait(concurrentWaitMs);
    const first = await findEarlier();
    if (first !== null) return first;
    added = await eventSequence.addEndpoint(newEndpoint);
  }
  if (added !== "added") return refuse(added === "url_taken" ? "webhook_exists" : "webhook_limit");
  const endpoint: RegisteredEndpoint = {
    id,
    url,
    events: settings.events ?? standardEventTypes,
    description: settings.description,
    status: "enabled",
    environment,
    secret,
    createdAt: now,
  };
  try {
    const response = JSON.stringify(endpoint);
    const statements = keyHash === null ? [] : await insertIdempotentResponse(db, vault, { keyHash, bodyHash, status: 201, response, now });
    const payload = { url_hash: sha256Hex(url) };
    await commitWithAudit(services, member, statements, { type: "webhook.created", entityType: "webhook", entityId: id, payload });
  } catch (error) {
    // The commit may have succeeded even though its response was lost. If `hasAuditEntry` cannot check this, it throws, and the endpoint
    // stays. Members can then see and delete it, and no saved response refers to a removed endpoint.
    if (!(await hasAuditEntry(db, id))) {
      await eventSequence.removeEndpoint(id);
      const first = isIdempotencyKeyTaken(error) ? await findEarlier() : null; // a concurrent request with the same key was committed first
      if (first !== null) return first;
      throw error;
    }
    services.scheduleFollowUp();
  }
  return ok({ value: endpoint, isReplayed: false });
};
