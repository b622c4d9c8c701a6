// Implements POST /v1/webhooks/{webhook_id}/test.
import { generateId, firstShard, type BusinessId, type WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { toAttemptResult, toCallOutcome, type CallOutcome } from "./call-outcome.ts";
import { findEventSequence } from "./find-event-sequence.ts";
import { hostWaitMessage, recordHostSuccess, takeHostAttempt } from "./host-attempts.ts";
import { sendEvent } from "./send-event.ts";

/**
 * Sends a `test.ping` event, which is not stored. Can return `not_found`, and `rate_limited` for a host that has not returned a 2xx status
 * to the business yet.
 */
export const testEndpoint = async (
  services: WebhookDependencies,
  businessId: BusinessId,
  endpointId: WebhookId,
): Promise<Result<CallOutcome, "not_found" | "rate_limited">> => {
  const found = await findEventSequence(services, businessId, endpointId);
  if (found === null) return refuse("not_found");
  const { settings } = found;
  const permit = await takeHostAttempt(services, settings, { isMemberCall: true });
  if (permit.kind === "wait") return refuse("rate_limited", hostWaitMessage);
  const ping = {
    id: crypto.randomUUID(),
    type: "test.ping",
    createdAt: services.clock(),
    shareId: null,
    certId: null,
    dataSealed: null,
    seq: 0,
  };
  const deliveryId = generateId("dlv_", firstShard, services.random);
  const sent = await sendEvent(services, { settings, event: ping, deliveryId, attempt: 1 });
  if (sent.kind === "cancelled") throw new Error("webhook: a test event has no payload that could be withheld");
  const outcome = toCallOutcome(toAttemptResult(sent));
  if (outcome.delivered && permit.kind === "counted") await recordHostSuccess(services, settings);
  return ok(outcome);
};
