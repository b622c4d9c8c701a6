// Registering an endpoint. Only the business's log knows whether there is room, so the endpoint is added first and taken back
// when its audit entry was not committed.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { eventTypes } from "../../../core/events/event.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { homeOfId, newId, type WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { RegisteredEndpoint } from "../../../core/webhooks/endpoint.ts";
import { chosenLine } from "../../../core/text.ts";
import { chosenEvents, maxDescriptionLength } from "../../../core/webhooks/management.ts";
import { secretBytes, secretHint, webhookSecret } from "../../../core/webhooks/signature.ts";
import { isEntered } from "../../../storage/outboxes/audit.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, keptAnswer } from "../../../storage/idempotency.ts";
import { keptRegistration, openedRegistration } from "../../../storage/webhook-answers.ts";
import { sealSecret } from "../../../storage/webhook-secrets.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";
import { enter } from "./logs.ts";

export interface WebhookRequest {
  readonly url: string;
  /** Null: every ordinary type, now and later. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  /** Of which records it is to hear; for good. */
  readonly environment: Environment;
  readonly idempotencyKey: string | null;
}

/** The only answer that holds the secret unasked. */
export interface Registration {
  readonly endpoint: RegisteredEndpoint;
  readonly replayed: boolean;
}

type RegistrationRefusal = "invalid_request" | "invalid_webhook_url" | "webhook_limit" | "idempotency_conflict";

/** Registers an endpoint; it hears of what happens from now on. One `idempotencyKey` makes one endpoint. */
export const createWebhook = async (
  services: Runtime & Stores & Events & Schedules,
  member: MemberSession,
  request: WebhookRequest,
): Promise<Result<Registration, RegistrationRefusal>> => {
  const { url, environment } = request;
  const events = chosenEvents(request.events);
  if (!events.ok) return events;
  const description = chosenLine("description", request.description, maxDescriptionLength);
  if (!description.ok) return description;
  if (!(await services.mayBeWebhook(url))) return refuse("invalid_webhook_url");

  const db = services.homes.of(member.business.id);
  const { vault } = services;
  const wanted = { url, events: events.value, description: description.value };
  const keyHash = request.idempotencyKey === null ? null : idempotencyKeyHash(member.userId, "POST /v1/webhooks", request.idempotencyKey);
  const bodyHash = sha256Hex(canonicalJson({ ...wanted, ...(environment === "sandbox" && { environment }) }));
  const kept = async (): Promise<Result<Registration, RegistrationRefusal> | null> => {
    const answer = keyHash === null ? null : await keptAnswer(db, vault, keyHash, services.clock());
    if (answer === null) return null;
    if (answer.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    return ok({ endpoint: openedRegistration(answer.response), replayed: true });
  };
  const earlier = await kept();
  if (earlier !== null) return earlier;

  const now = services.clock();
  const businessId = member.business.id;
  const id = newId("whk_", homeOfId(businessId), services.random) as WebhookId;
  const secret = webhookSecret(services.random(secretBytes));
  const secretSealed = await sealSecret(vault, { endpointId: id, businessId }, secret);
  const log = services.businessLog(businessId, environment);
  if (!(await log.addEndpoint({ id, ...wanted, secretSealed, secretHint: secretHint(secret), createdAt: now })))
    return refuse("webhook_limit");
  const endpoint: RegisteredEndpoint = {
    id,
    url,
    events: wanted.events ?? eventTypes,
    description: wanted.description,
    status: "enabled",
    environment,
    secret,
    createdAt: now,
  };
  try {
    const response = keptRegistration(endpoint);
    const rows = keyHash === null ? [] : await insertAnswer(db, vault, { keyHash, bodyHash, status: 201, response, now });
    await enter(services, member, "webhook.created", id, { url_hash: sha256Hex(url) }, rows);
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
  return ok({ endpoint, replayed: false });
};
