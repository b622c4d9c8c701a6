// Implements PATCH /v1/webhooks/{webhook_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import type { EndpointStatus, EndpointChange } from "../../../core/webhooks/endpoint.ts";
import { parseSelectedEvents, maxDescriptionLength } from "../../../core/webhooks/event-selection.ts";
import type { EventSequences, WebhookWriteDependencies } from "./dependencies.ts";
import { commitWebhookAudit } from "./commit-webhook-audit.ts";
import { findEventSequence } from "./find-event-sequence.ts";
import type { EndpointState } from "./list-webhooks.ts";

/** The properties to change. Undefined properties stay unchanged. */
export interface WebhookUpdate {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly status?: EndpointStatus | undefined;
}

const parseWebhookUpdate = async (
  services: EventSequences,
  input: WebhookUpdate,
): Promise<Result<EndpointChange, "invalid_request" | "invalid_webhook_url">> => {
  const events = input.events === undefined ? ok(undefined) : parseSelectedEvents(input.events);
  if (!events.ok) return events;
  const { description: text } = input;
  const description = text === undefined ? ok(undefined) : parseLine("description", text, maxDescriptionLength);
  if (!description.ok) return description;
  const { url } = input;
  const fault = url === undefined ? null : await services.findWebhookUrlFault(url);
  if (fault !== null) return refuse("invalid_webhook_url", `url: ${fault}.`);
  return ok({
    ...(url !== undefined && { url }),
    ...(events.value !== undefined && { events: events.value }),
    ...(description.value !== undefined && { description: description.value }),
    ...(input.status !== undefined && { status: input.status }),
  });
};

/**
 * Commits the audit entry, and then changes the endpoint. For a new URL, the audit entry contains only its hash. Records nothing if all
 * properties are undefined. Can return `not_found`, `invalid_request`, `invalid_webhook_url`, and `webhook_exists` if another endpoint has
 * the new URL. If another endpoint with this URL is created at the same moment, the audit entry stays even though nothing changed.
 */
export const updateWebhook = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  id: WebhookId,
  input: WebhookUpdate,
): Promise<Result<EndpointState, "not_found" | "invalid_request" | "invalid_webhook_url" | "webhook_exists">> => {
  const found = await findEventSequence(services, member.business.id, id);
  if (found === null) return refuse("not_found");
  const { eventSequence, environment } = found;
  const change = await parseWebhookUpdate(services, input);
  if (!change.ok) return change;
  const changed = Object.keys(change.value).sort();
  const { url } = change.value;
  if (url !== undefined && (await eventSequence.isEndpointUrlTaken(url, id))) return refuse("webhook_exists");
  const payload = { changed, ...(url !== undefined && { url_hash: sha256Hex(url) }) };
  if (changed.length > 0) await commitWebhookAudit(services, member, "webhook.changed", id, payload);
  const after = await (changed.length > 0 ? eventSequence.updateEndpoint(id, change.value) : eventSequence.findEndpoint(id));
  if (after === "url_taken") return refuse("webhook_exists");
  return after === null ? refuse("not_found") : ok({ ...after, environment });
};
