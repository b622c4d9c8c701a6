import type { Environment } from "../../../core/access/entitlement.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import type { EventSequences } from "./dependencies.ts";

export const environments = ["live", "sandbox"] as const satisfies readonly Environment[];

/**
 * Which of the two holds an endpoint: an id does not say, and the live one is asked first, so only what belongs to the sandbox costs a
 * second question. Null for an endpoint that is not this business's.
 */
export const findEventSequence = async (services: EventSequences, businessId: BusinessId, id: WebhookId) => {
  for (const environment of environments) {
    const log = services.eventSequence(businessId, environment);
    const settings = await log.findEndpointSettings(id);
    if (settings !== null) return { eventSequence: log, environment, settings };
  }
  return null;
};
