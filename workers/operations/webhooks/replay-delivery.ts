import type { BusinessId, DeliveryId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Delivery } from "../../../core/webhooks/endpoint.ts";
import type { EventSequences } from "./dependencies.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { toOutcome, toCallOutcome, type CallOutcome } from "./call-outcome.ts";
import { environments } from "./find-event-sequence.ts";
import { sendEvent } from "./send-event.ts";

export interface ReplayOutcome extends CallOutcome {
  /** As it is now. */
  readonly delivery: Delivery;
}

const findReplaySource = async (services: EventSequences, businessId: BusinessId, deliveryId: DeliveryId) => {
  for (const environment of environments) {
    const log = services.eventSequence(businessId, environment);
    const source = await log.findReplaySource(deliveryId);
    if (source !== null) return { eventSequence: log, source };
  }
  return null;
};

/**
 * Sends a past event to its endpoint again, with a fresh signature. Delivered, it ends the delivery; failed, it changes nothing.
 * Refuses `not_found` and, for an update whose share is no longer active, `share_inactive`.
 */
export const replayDelivery = async (
  services: WebhookDependencies,
  businessId: BusinessId,
  deliveryId: DeliveryId,
): Promise<Result<ReplayOutcome, "not_found" | "share_inactive">> => {
  const found = await findReplaySource(services, businessId, deliveryId);
  if (found === null) return refuse("not_found");
  const { eventSequence, source } = found;
  const sent = await sendEvent(services, source.sending);
  if (sent.kind === "cancelled") return refuse("share_inactive");
  const outcome = toOutcome(sent);
  const kept = await eventSequence.saveReplay(source.sending.settings.endpointId, deliveryId, outcome);
  return ok({ ...toCallOutcome(outcome), delivery: kept ?? source.delivery });
};
