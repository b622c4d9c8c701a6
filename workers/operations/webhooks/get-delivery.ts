// Implements GET /v1/webhooks/deliveries/{delivery_id}/attempts.
import type { BusinessId, DeliveryId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { openDelivery, type OpenedDelivery } from "./open-delivery.ts";
import { findDeliveryRecord } from "./find-delivery-record.ts";

/**
 * Returns a delivery with the request and response of each recorded attempt. If the event contains shared details, omits the details, all
 * headers and the response bodies. Can return `not_found`.
 */
export const getDelivery = async (
  services: WebhookDependencies,
  businessId: BusinessId,
  deliveryId: DeliveryId,
): Promise<Result<OpenedDelivery, "not_found">> => {
  const record = await findDeliveryRecord(services, businessId, deliveryId);
  return record === null ? refuse("not_found") : ok(await openDelivery(services, record, null));
};
