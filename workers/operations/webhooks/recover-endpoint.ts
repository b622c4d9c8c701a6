import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { RecoveryResult } from "../../../core/webhooks/endpoint.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { findEventSequence } from "./find-event-sequence.ts";

/** Everything that failed since then is sent again, the oldest event first, at most ten a second. */
export const recoverEndpoint = async (
  services: WebhookDependencies,
  businessId: BusinessId,
  endpointId: WebhookId,
  since: Instant,
): Promise<Result<RecoveryResult, "not_found" | "invalid_request">> => {
  const held = await findEventSequence(services, businessId, endpointId);
  if (held === null) return refuse("not_found");
  if (since > services.clock()) return refuse("invalid_request", "since: must not lie in the future.");
  const recovery = await held.eventSequence.recoverFailed(endpointId, since);
  return recovery === null ? refuse("not_found") : ok(recovery);
};
