// Implements GET /v1/webhooks/{webhook_id}/deliveries.
import type { DeliveryId, BusinessId, WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { DeliveryPage } from "../../../core/webhooks/endpoint.ts";
import type { EventSequences } from "./dependencies.ts";
import { findEventSequence } from "./find-event-sequence.ts";

export interface DeliveryQuery {
  readonly limit: number;
  /** The last delivery on the previous page; null for the first page. */
  readonly before: DeliveryId | null;
}

/**
 * Lists an endpoint's deliveries, newest first. Returns `not_found` if there is no such endpoint, and `invalid_request` if `before` is not
 * the ID of one of its deliveries.
 */
export const listDeliveries = async (
  services: EventSequences,
  businessId: BusinessId,
  endpointId: WebhookId,
  { limit, before }: DeliveryQuery,
): Promise<Result<DeliveryPage, "not_found" | "invalid_request">> => {
  const found = await findEventSequence(services, businessId, endpointId);
  if (found === null) return refuse("not_found");
  const page = await found.eventSequence.listDeliveries(endpointId, limit, before);
  return page === null ? refuse("invalid_request", "before: must be the ID of a delivery to this endpoint.") : ok(page);
};
