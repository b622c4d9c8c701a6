// Finds a delivery in the live or sandbox event sequence.
import { environments, type Environment } from "../../../core/access/entitlement.ts";
import type { BusinessId, DeliveryId } from "../../../core/ids.ts";
import type { DeliveryRecord } from "../../../core/webhooks/endpoint.ts";
import type { EventSequences } from "./dependencies.ts";

export interface FoundDeliveryRecord extends DeliveryRecord {
  readonly environment: Environment;
}

/** Returns the delivery with its attempts, or null if it does not belong to this business. */
export const findDeliveryRecord = async (
  services: EventSequences,
  businessId: BusinessId,
  deliveryId: DeliveryId,
): Promise<FoundDeliveryRecord | null> => {
  for (const environment of environments) {
    const record = await services.eventSequence(businessId, environment).findDeliveryRecord(deliveryId);
    if (record !== null) return { ...record, environment };
  }
  return null;
};
