// Implements GET /v1/webhooks.
import { environments, type Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { Endpoint, EndpointHealth } from "../../../core/webhooks/endpoint.ts";
import type { HourlyAttempts } from "../../../core/webhooks/hourly-attempts.ts";
import type { EventSequences } from "./dependencies.ts";

export interface EndpointState {
  readonly endpoint: Endpoint;
  readonly environment: Environment;
  /** Null if the endpoint's delivery queue did not respond. */
  readonly health: EndpointHealth | null;
  /**
   * The attempts per hour in the last 48 hours, without hours that have no attempts. Null if the endpoint's delivery queue did not respond.
   */
  readonly hours: readonly HourlyAttempts[] | null;
}

/** Lists live endpoints, then sandbox endpoints, oldest first within each group. */
export const listWebhooks = async (services: EventSequences, { business }: MemberSession): Promise<readonly EndpointState[]> => {
  const listed = await Promise.all(
    environments.map(async (environment) => {
      const endpoints = await services.eventSequence(business.id, environment).listEndpoints();
      return endpoints.map((state) => ({ ...state, environment }));
    }),
  );
  return listed.flat();
};
