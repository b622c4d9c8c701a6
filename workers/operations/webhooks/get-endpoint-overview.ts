// Loads the data for the portal's page about one endpoint.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { DeliveryId, WebhookId } from "../../../core/ids.ts";
import type { DeliveryFilter } from "../../../core/webhooks/endpoint.ts";
import type { EndpointWithOverview } from "../../../durable-objects/event-sequence/endpoints.ts";
import type { EventSequences } from "./dependencies.ts";

interface OverviewQuery {
  readonly limit: number;
  /** The last delivery on the previous page; null for the first page. */
  readonly before: DeliveryId | null;
  /** The status of the deliveries to list; null lists all of them. */
  readonly status: DeliveryFilter | null;
}

/**
 * Reads an endpoint, its health, its attempts by hour and a page of its deliveries in one call. Returns null if this environment does not
 * have the endpoint.
 */
export const getEndpointOverview = async (
  services: EventSequences,
  { business, environment }: BusinessScope,
  endpointId: WebhookId,
  { limit, before, status }: OverviewQuery,
): Promise<EndpointWithOverview | null> =>
  services.eventSequence(business.id, environment).findEndpointOverview(endpointId, limit, before, status);
