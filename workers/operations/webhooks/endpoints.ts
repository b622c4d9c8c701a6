// Webhook endpoints as the people of a business manage them: list, change and remove.
import type { MemberSession } from "../../../core/access/session.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Endpoint, EndpointChange, EndpointHealth, EndpointStatus } from "../../../core/webhooks/endpoint.ts";
import { chosenDescription, chosenEvents } from "../../../core/webhooks/management.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";
import { enter } from "./audit-entry.ts";

export interface EndpointState {
  readonly endpoint: Endpoint;
  /** Null where its lane did not answer: then nobody knows. */
  readonly health: EndpointHealth | null;
}

/** Oldest first. */
export const listWebhooks = (services: Events, { business }: MemberSession): Promise<readonly EndpointState[]> =>
  services.businessLog(business.id).endpoints();

/** What is undefined stays as it is. */
export interface WebhookChange {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly status?: EndpointStatus | undefined;
}

const readChange = async (
  services: Events,
  asked: WebhookChange,
): Promise<Result<EndpointChange, "invalid_request" | "invalid_webhook_url">> => {
  const events = asked.events === undefined ? ok(undefined) : chosenEvents(asked.events);
  if (!events.ok) return events;
  const description = asked.description === undefined ? ok(undefined) : chosenDescription(asked.description);
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
  services: Runtime & Stores & Events & Schedules,
  member: MemberSession,
  id: WebhookId,
  asked: WebhookChange,
): Promise<Result<EndpointState, "not_found" | "invalid_request" | "invalid_webhook_url">> => {
  const log = services.businessLog(member.business.id);
  const before = await log.endpoint(id);
  if (before === null) return refuse("not_found");
  const change = await readChange(services, asked);
  if (!change.ok) return change;
  const changed = Object.keys(change.value).sort();
  if (changed.length === 0) return ok(before);
  await enter(services, member, { type: "webhook.changed", id, url: change.value.url, changed });
  const after = await log.changeEndpoint(id, change.value);
  return after === null ? refuse("not_found") : ok(after);
};

export const deleteWebhook = async (
  services: Runtime & Stores & Events & Schedules,
  member: MemberSession,
  id: WebhookId,
): Promise<Result<WebhookId, "not_found">> => {
  const log = services.businessLog(member.business.id);
  if ((await log.settings(id)) === null) return refuse("not_found");
  await enter(services, member, { type: "webhook.deleted", id });
  return (await log.removeEndpoint(id)) ? ok(id) : refuse("not_found");
};
