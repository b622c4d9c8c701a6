// Implements POST /v1/webhooks/deliveries/{delivery_id}/replay.
import type { BusinessId, DeliveryId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Delivery } from "../../../core/webhooks/endpoint.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { toAttemptResult, toCallOutcome, type CallOutcome } from "./call-outcome.ts";
import { hostWaitMessage, recordHostSuccess, takeHostAttempt } from "./host-attempts.ts";
import { findDeliveryRecord } from "./find-delivery-record.ts";
import { sendEvent } from "./send-event.ts";

export interface ReplayOutcome extends CallOutcome {
  /** The delivery's state after the replay. */
  readonly delivery: Delivery;
}

/**
 * Resends a past event to its endpoint with a new signature. If it succeeds, the delivery counts as successful and is not retried. A
 * failure is recorded as an attempt and does not change the delivery's status. Can return `not_found`, `share_inactive` for an update to a
 * share that is no longer active, and `rate_limited` for a host that has not returned a 2xx status to the business yet.
 */
export const replayDelivery = async (
  services: WebhookDependencies,
  businessId: BusinessId,
  deliveryId: DeliveryId,
): Promise<Result<ReplayOutcome, "not_found" | "share_inactive" | "rate_limited">> => {
  const found = await findDeliveryRecord(services, businessId, deliveryId);
  if (found === null) return refuse("not_found");
  const { settings, event, delivery, environment } = found;
  const permit = await takeHostAttempt(services, settings, { isMemberCall: true });
  if (permit.kind === "wait") return refuse("rate_limited", hostWaitMessage);
  const sent = await sendEvent(services, { settings, event, deliveryId, attempt: Math.max(1, delivery.attempt) });
  if (sent.kind === "cancelled") return refuse("share_inactive");
  const result = toAttemptResult(sent);
  const saved = await services.eventSequence(businessId, environment).saveReplay(settings.endpointId, deliveryId, result);
  const call = toCallOutcome(result);
  if (call.delivered && permit.kind === "counted") await recordHostSuccess(services, settings);
  return ok({ ...call, delivery: saved ?? delivery });
};
