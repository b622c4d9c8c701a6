import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { parseShareTerms } from "../../../core/shares/grant.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { parseAuthorizationToken, isTokenExpired } from "./authorization-token.ts";
import { toTokenBinding } from "./authorize-share-request.ts";
import { grantShare, type GrantRequest, type Grantor, type GrantResult } from "./grant-share.ts";

export interface ShareDecision extends Omit<GrantRequest, "decisionKey" | "canDecide" | "saveIdempotentResponse"> {
  readonly state: string | null;
  /** Of GET /v1/authorize; null for a caller that did not ask there. */
  readonly token: string | null;
}

const staleTokenRefusal = refuse("invalid_request", "authorize_token: is not of this request, or is older than 10 minutes.");

const checkDecisionAgainstToken = async (services: ReadDependencies, decision: ShareDecision): Promise<Result<true, "invalid_request">> => {
  const { token, clientId } = decision;
  if (token === null || clientId === null) return ok(true);
  const words = parseShareTerms(decision.purpose, decision.disclosureText);
  if (!words.ok) return words;
  const origin = URL.canParse(decision.origin) ? new URL(decision.origin).origin : decision.origin;
  const content = await parseAuthorizationToken(services, token, toTokenBinding({ ...decision, ...words.value, origin, clientId }));
  if (content === null || isTokenExpired(content, services.clock()) || !token.startsWith(`az_${shardOfId(clientId)}`))
    return staleTokenRefusal;
  const { scope, needed } = content.asked;
  if (decision.scope.some((key) => !scope.includes(key))) return refuse("invalid_request", "scope: must not hold more than was asked for.");
  if (needed.some((key) => !decision.scope.includes(key)))
    return refuse("invalid_request", "scope: must hold what was asked for as needed.");
  return ok(true);
};

/**
 * Refuses as `grantShare`. The token is judged after the client, the account and the origin: who is asked for is told apart from what
 * was shown, so a refusal of the token is given only where everything before it is right.
 */
export const decideShare = async (
  services: ShareWriteDependencies,
  by: Grantor,
  decision: ShareDecision,
  keep: SaveIdempotentResponse<GrantResult> | undefined,
): Promise<Result<GrantResult>> =>
  grantShare(services, by, {
    ...decision,
    saveIdempotentResponse: keep,
    decisionKey: decision.token,
    canDecide: () => checkDecisionAgainstToken(services, decision),
  });
