// Alerts the owners and the operator about an endpoint that keeps failing. The endpoint stays enabled, because dropping a revocation would
// be worse.
import type { EndpointHealth, EndpointSettings } from "../../../core/webhooks/endpoint.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import { batch } from "../../../storage/database.ts";
import { insertFailingEndpoint } from "../../../storage/outboxes/failing-endpoints.ts";
import { insertOwnerMails } from "../../../storage/owners.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Records the failing endpoint and writes the emails to the outbox in one batch. */
export const alertEndpointOwners = async (
  services: ReadDependencies,
  settings: EndpointSettings,
  health: EndpointHealth,
): Promise<void> => {
  const businessId = settings.businessId as BusinessId;
  const db = services.shards.forId(businessId);
  const now = services.clock();
  const since = health.failingSince ?? now;
  const data = { webhookId: settings.endpointId, failingSince: since, failures: health.consecutiveFailures };
  const mails = await insertOwnerMails(db, services.vault, businessId, { template: "webhook_failing", data, now });
  const record = insertFailingEndpoint(db, { webhookId: settings.endpointId as WebhookId, businessId, since }, now);
  await batch(db, [record, ...mails]);
};
