// Webhook endpoints as the people of a business manage them: list, change and remove.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Endpoint, EndpointChange, EndpointHealth, EndpointStatus } from "../../../core/webhooks/endpoint.ts";
import { chosenLine } from "../../../core/text.ts";
import { chosenEvents, maxDescriptionLength } from "../../../core/webhooks/management.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";
import { enter, environments, logHolding } from "./logs.ts";

export interface EndpointState {
  readonly endpoint: Endpoint;
  /** Of which records it hears. */
  readonly environment: Environment;
  /** Null where its lane did not answer: then nobody knows. */
  readonly health: EndpointHealth | null;
}

/** Live ones, then those of the sandbox; each oldest first. */
export const listWebhooks = async (services: Events, { business }: MemberSession): Promise<readonly EndpointState[]> => {
  const listed = await Promise.all(
    environments.map(async (environment) => {
      const found = await services.businessLog(business.id, environment).endpoints();
      return found.map((state) => ({ ...state, environment }));
    }),
  );
  return listed.flat();
};

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
  const { description: text } = asked;
  const description = text === undefined ? ok(undefined) : chosenLine("description", text, maxDescriptionLength);
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
  const held = await logHolding(services, member.business.id, id);
  if (held === null) return refuse("not_found");
  const { log, environment } = held;
  const change = await readChange(services, asked);
  if (!change.ok) return change;
  const changed = Object.keys(change.value).sort();
  const { url } = change.value;
  const entered = { changed, ...(url !== undefined && { url_hash: sha256Hex(url) }) };
  if (changed.length > 0) await enter(services, member, "webhook.changed", id, entered);
  const after = await (changed.length > 0 ? log.changeEndpoint(id, change.value) : log.endpoint(id));
  return after === null ? refuse("not_found") : ok({ ...after, environment });
};

export const deleteWebhook = async (
  services: Runtime & Stores & Events & Schedules,
  member: MemberSession,
  id: WebhookId,
): Promise<Result<WebhookId, "not_found">> => {
  const held = await logHolding(services, member.business.id, id);
  if (held === null) return refuse("not_found");
  await enter(services, member, "webhook.deleted", id);
  return (await held.log.removeEndpoint(id)) ? ok(id) : refuse("not_found");
};
