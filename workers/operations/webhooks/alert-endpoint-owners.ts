// Alerts the owners and the operator about an endpoint that keeps failing. The endpoint stays enabled, because losing a revocation event
// would be worse than repeated failures.
import type { EndpointHealth, EndpointSettings } from "../../../core/webhooks/endpoint.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import { batch } from "../../../storage/database.ts";
import { insertFailingEndpoint } from "../../../storage/outboxes/failing-endpoints.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { prepareOwnerNotice } from "../owner-notices.ts";

/** Records the failing endpoint and the notice to the owners in one batch. */
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
  const notice = await prepareOwnerNotice(services, db, businessId, { template: "webhook_failing", data });
  const record = insertFailingEndpoint(db, { webhookId: settings.endpointId as WebhookId, businessId, since }, now);
  await batch(db, [record, ...notice]);
};
