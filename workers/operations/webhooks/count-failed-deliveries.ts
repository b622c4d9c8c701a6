// Counts an endpoint's failed deliveries.
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import type { EventSequences } from "./dependencies.ts";
import { findEventSequence } from "./find-event-sequence.ts";

/** Counts the deliveries that have failed since a given time. Returns null for an unknown endpoint. */
export const countFailedDeliveries = async (
  services: EventSequences,
  businessId: BusinessId,
  endpointId: WebhookId,
  since: Instant,
): Promise<number | null> => {
  const found = await findEventSequence(services, businessId, endpointId);
  return found === null ? null : found.eventSequence.countFailedSince(endpointId, since);
};
