import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type ClientId } from "../../../core/ids.ts";
import type { Result } from "../../../core/result.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { resolveEarlierDecision, hashDecisionRequest } from "./earlier-decision.ts";
import type { GrantResult } from "./grant-share.ts";

/**
 * The code of a decision that stands, given anew where it ran out before anybody redeemed it. Nothing is chosen a second time. Null for a
 * request that nobody has decided on.
 */
export const reissueShareCode = (
  services: ReadDependencies,
  person: Pick<Person, "id"> | null,
  clientId: ClientId,
  decisionKey: string,
): Promise<Result<GrantResult> | null> => {
  const db = services.shards.forId(clientId);
  return resolveEarlierDecision(services, db, shardOfId(clientId), hashDecisionRequest(person, decisionKey));
};
