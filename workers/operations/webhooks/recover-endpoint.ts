// Implements POST /v1/webhooks/{webhook_id}/recover.
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { RecoveryResult } from "../../../core/webhooks/endpoint.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { findEventSequence } from "./find-event-sequence.ts";

/**
 * Requeues up to 10,000 deliveries that have failed since a given time, oldest event first. At most ten of them are sent per second. Can
 * return `not_found` and `invalid_request`.
 */
export const recoverEndpoint = async (
  services: WebhookDependencies,
  businessId: BusinessId,
  endpointId: WebhookId,
  since: Instant,
): Promise<Result<RecoveryResult, "not_found" | "invalid_request">> => {
  const found = await findEventSequence(services, businessId, endpointId);
  if (found === null) return refuse("not_found");
  if (since > services.clock()) return refuse("invalid_request", "since: must not be in the future.");
  const recovery = await found.eventSequence.recoverFailed(endpointId, since);
  return recovery === null ? refuse("not_found") : ok(recovery);
};
