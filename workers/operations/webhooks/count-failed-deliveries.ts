import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import type { EventSequences } from "./dependencies.ts";
import { findEventSequence } from "./find-event-sequence.ts";

/** How many deliveries of an endpoint failed since then; null where there is no such endpoint. */
export const countFailedDeliveries = async (
  services: EventSequences,
  businessId: BusinessId,
  endpointId: WebhookId,
  since: Instant,
): Promise<number | null> => {
  const held = await findEventSequence(services, businessId, endpointId);
  return held === null ? null : held.eventSequence.countFailedSince(endpointId, since);
};
