// Which log of a business holds an endpoint: the live one, or that of its sandbox. An id does not say which, and the live one is asked
// first: only what belongs to the sandbox costs a second question.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import type { EndpointSettings } from "../../../core/webhooks/endpoint.ts";
import type { Events } from "../../services.ts";

export const environments = ["live", "sandbox"] as const satisfies readonly Environment[];

export interface HoldingLog {
  readonly log: ReturnType<Events["businessLog"]>;
  readonly environment: Environment;
  readonly settings: EndpointSettings;
}

/** Null for an endpoint that is not this business's. */
export const logHolding = async (services: Events, businessId: BusinessId, id: WebhookId): Promise<HoldingLog | null> => {
  for (const environment of environments) {
    const log = services.businessLog(businessId, environment);
    const settings = await log.settings(id);
    if (settings !== null) return { log, environment, settings };
  }
  return null;
};
