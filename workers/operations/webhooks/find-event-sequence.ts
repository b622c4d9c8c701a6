// Finds the event sequence that contains an endpoint.
import { environments } from "../../../core/access/entitlement.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import type { EventSequences } from "./dependencies.ts";

/**
 * Searches the live event sequence and then the sandbox event sequence, because an ID does not reveal its environment. Returns null if the
 * endpoint does not belong to this business.
 */
export const findEventSequence = async (services: EventSequences, businessId: BusinessId, id: WebhookId) => {
  for (const environment of environments) {
    const eventSequence = services.eventSequence(businessId, environment);
    const settings = await eventSequence.findEndpointSettings(id);
    if (settings !== null) return { eventSequence, environment, settings };
  }
  return null;
};
