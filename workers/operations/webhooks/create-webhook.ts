// Registering an endpoint. Only the business's log knows whether there is room, so the endpoint is added first and taken back
// when its audit entry was not committed.
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
import { hasAuditEntry } from "../../../storage/outboxes/audit.ts";
import {
  idempotencyKeyHash,
  insertIdempotentResponse,
  isIdempotencyKeyTaken,
  findIdempotentResponse,
} from "../../../storage/idempotency.ts";
import { serializeRegistration, parseRegistration } from "../../../storage/webhook-responses.ts";
import { sealWebhookSecret } from "../../../storage/webhook-secrets.ts";
import type { WebhookWriteDependencies } from "./dependencies.ts";
import { commitWebhookAudit } from "./commit-webhook-audit.ts";

export interface CreateWebhookRequest {
  readonly url: string;
  /** Null: every ordinary type, now and later. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  /** Of which records it is to hear; for good. */
  readonly environment: Environment;
  readonly idempotencyKey: string | null;
}

/** The only answer that holds the secret unasked. */
export interface CreatedWebhook {
  readonly endpoint: RegisteredEndpoint;
  readonly replayed: boolean;
}

type CreateWebhookRefusal = "invalid_request" | "invalid_webhook_url" | "webhook_limit" | "idempotency_conflict";

/** Registers an endpoint; it hears of what happens from now on. One `idempotencyKey` makes one endpoint. */
export const createWebhook = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  request: CreateWebhookRequest,
): Promise<Result<CreatedWebhook, CreateWebhookRefusal>> => {
  const { url, environment } = request;
  const events = parseSelectedEvents(request.events);
  if (!events.ok) return events;
  const description = parseLine("description", request.description, maxDescriptionLength);
  if (!description.ok) return description;
  if (!(await services.isAllowedWebhookUrl(url))) return refuse("invalid_webhook_url");

  const db = services.shards.forId(member.business.id);
  const { vault } = services;
  const wanted = { url, events: events.value, description: description.value };
  const keyHash = request.idempotencyKey === null ? null : idempotencyKeyHash(member.userId, "POST /v1/webhooks", request.idempotencyKey);
  const bodyHash = sha256Hex(toCanonicalJson({ ...wanted, ...(environment === "sandbox" && { environment }) }));
  const kept = async (): Promise<Result<CreatedWebhook, CreateWebhookRefusal> | null> => {
    const answer = keyHash === null ? null : await findIdempotentResponse(db, vault, keyHash, services.clock());
    if (answer === null) return null;
    if (answer.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    return ok({ endpoint: parseRegistration(answer.response), replayed: true });
  };
  const earlier = await kept();
  if (earlier !== null) return earlier;

  const now = services.clock();
  const businessId = member.business.id;
  const id = generateId("whk_", shardOfId(businessId), services.random) as WebhookId;
  const secret = formatWebhookSecret(services.random(secretLength));
  const secretSealed = await sealWebhookSecret(vault, { endpointId: id, businessId }, secret);
  const log = services.eventSequence(businessId, environment);
  if (!(await log.addEndpoint({ id, ...wanted, secretSealed, secretHint: formatSecretHint(secret), createdAt: now })))
    return refuse("webhook_limit");
  const endpoint: RegisteredEndpoint = {
    id,
    url,
    events: wanted.events ?? standardEventTypes,
    description: wanted.description,
    status: "enabled",
    environment,
    secret,
    createdAt: now,
  };
  try {
    const response = serializeRegistration(endpoint);
    const rows = keyHash === null ? [] : await insertIdempotentResponse(db, vault, { keyHash, bodyHash, status: 201, response, now });
    await commitWebhookAudit(services, member, "webhook.created", id, { url_hash: sha256Hex(url) }, rows);
  } catch (error) {
    // Only the answer of the commit may have been lost. While nobody can tell, this throws and the endpoint stays: it can be seen
    // and removed, and an answer that may be kept names no endpoint that is gone.
    if (!(await hasAuditEntry(db, id))) {
      await log.removeEndpoint(id);
      const first = isIdempotencyKeyTaken(error) ? await kept() : null; // the same request, twice at once: the other one made it
      if (first !== null) return first;
      throw error;
    }
    services.scheduleFollowUp();
  }
  return ok({ endpoint, replayed: false });
};
