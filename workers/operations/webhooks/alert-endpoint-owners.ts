// Owners hear of an endpoint that has been failing for long, and the operator finds it. Nothing is switched off: the most harmful failure would be a
// revocation that is never delivered.
import type { EndpointHealth, EndpointSettings } from "../../../core/webhooks/endpoint.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import { batch } from "../../../storage/database.ts";
import { insertFailingEndpoint } from "../../../storage/outboxes/failing-endpoints.ts";
import { insertOwnerMails } from "../../../storage/owners.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Letters go to the mail outbox; the minute cron sends them. */
export const alertEndpointOwners = async (
  platform: ReadDependencies,
  settings: EndpointSettings,
  health: EndpointHealth,
): Promise<void> => {
  const businessId = settings.businessId as BusinessId;
  const db = platform.shards.forId(businessId);
  const now = platform.clock();
  const since = health.failingSince ?? now;
  const data = { webhookId: settings.endpointId, failingSince: since, failures: health.consecutiveFailures };
  const mails = await insertOwnerMails(db, platform.vault, businessId, { template: "webhook_failing", data, now });
  const noted = insertFailingEndpoint(db, { webhookId: settings.endpointId as WebhookId, businessId, since }, now);
  await batch(db, [noted, ...mails]);
};
