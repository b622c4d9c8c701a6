import type { MemberSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import type { EndpointStatus, EndpointChange } from "../../../core/webhooks/endpoint.ts";
import { parseSelectedEvents, maxDescriptionLength } from "../../../core/webhooks/event-selection.ts";
import type { EventSequences } from "./dependencies.ts";
import type { WebhookWriteDependencies } from "./dependencies.ts";
import { commitWebhookAudit } from "./commit-webhook-audit.ts";
import { findEventSequence } from "./find-event-sequence.ts";
import type { EndpointState } from "./list-webhooks.ts";

/** What is undefined stays as it is. */
export interface WebhookUpdate {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly status?: EndpointStatus | undefined;
}

const parseWebhookUpdate = async (
  services: EventSequences,
  asked: WebhookUpdate,
): Promise<Result<EndpointChange, "invalid_request" | "invalid_webhook_url">> => {
  const events = asked.events === undefined ? ok(undefined) : parseSelectedEvents(asked.events);
  if (!events.ok) return events;
  const { description: text } = asked;
  const description = text === undefined ? ok(undefined) : parseLine("description", text, maxDescriptionLength);
  if (!description.ok) return description;
  if (asked.url !== undefined && !(await services.isAllowedWebhookUrl(asked.url))) return refuse("invalid_webhook_url");
  return ok({
    ...(asked.url !== undefined && { url: asked.url }),
    ...(events.value !== undefined && { events: events.value }),
    ...(description.value !== undefined && { description: description.value }),
    ...(asked.status !== undefined && { status: asked.status }),
  });
};

export const updateWebhook = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  id: WebhookId,
  asked: WebhookUpdate,
): Promise<Result<EndpointState, "not_found" | "invalid_request" | "invalid_webhook_url">> => {
  const held = await findEventSequence(services, member.business.id, id);
  if (held === null) return refuse("not_found");
  const { eventSequence, environment } = held;
  const change = await parseWebhookUpdate(services, asked);
  if (!change.ok) return change;
  const changed = Object.keys(change.value).sort();
  const { url } = change.value;
  const entered = { changed, ...(url !== undefined && { url_hash: sha256Hex(url) }) };
  if (changed.length > 0) await commitWebhookAudit(services, member, "webhook.changed", id, entered);
  const after = await (changed.length > 0 ? eventSequence.updateEndpoint(id, change.value) : eventSequence.findEndpoint(id));
  return after === null ? refuse("not_found") : ok({ ...after, environment });
};
