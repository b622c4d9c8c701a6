import type { DeliveryId, BusinessId, WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Delivery } from "../../../core/webhooks/endpoint.ts";
import type { EventSequences } from "./dependencies.ts";
import { findEventSequence } from "./find-event-sequence.ts";

export interface DeliveryQuery {
  readonly limit: number;
  /** The last delivery of the page before; null for the newest. */
  readonly before: DeliveryId | null;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  readonly hasMore: boolean;
}

/** Newest first, from behind `before` on. */
export const listDeliveries = async (
  services: EventSequences,
  businessId: BusinessId,
  endpointId: WebhookId,
  { limit, before }: DeliveryQuery,
): Promise<Result<DeliveryPage, "not_found" | "invalid_request">> => {
  const held = await findEventSequence(services, businessId, endpointId);
  if (held === null) return refuse("not_found");
  const page = await held.eventSequence.listDeliveries(endpointId, limit, before);
  return page === null ? refuse("invalid_request", "before: must be the id of a delivery to this endpoint.") : ok(page);
};
