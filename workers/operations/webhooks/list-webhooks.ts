import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { Endpoint, EndpointHealth } from "../../../core/webhooks/endpoint.ts";
import type { EventSequences } from "./dependencies.ts";
import { environments } from "./find-event-sequence.ts";

export interface EndpointState {
  readonly endpoint: Endpoint;
  /** Of which records it hears. */
  readonly environment: Environment;
  /** Null where its lane did not answer: then nobody knows. */
  readonly health: EndpointHealth | null;
}

/** Live ones, then those of the sandbox; each oldest first. */
export const listWebhooks = async (services: EventSequences, { business }: MemberSession): Promise<readonly EndpointState[]> => {
  const listed = await Promise.all(
    environments.map(async (environment) => {
      const found = await services.eventSequence(business.id, environment).listEndpoints();
      return found.map((state) => ({ ...state, environment }));
    }),
  );
  return listed.flat();
};
