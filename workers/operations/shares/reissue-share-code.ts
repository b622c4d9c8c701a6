// Issues another code for a decision whose first code expired unused.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type ClientId } from "../../../core/ids.ts";
import type { Result } from "../../../core/result.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { resolveEarlierDecision, hashDecisionRequest, type GrantResult } from "./earlier-decision.ts";

/**
 * Returns the earlier decision with a valid code, without asking the person to decide again. Returns null if there is no earlier decision.
 * Can return the same errors as `resolveEarlierDecision`.
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
