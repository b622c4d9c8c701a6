// Implements POST /v1/share/consent and /v1/share/sandbox-consent, which record a person's decision on a share request. The decision must
// come from the person's own session on the app's origin, or from a test person. Therefore, the request evidence of the share is always
// `api`. The consent sheet does not use this operation. It has its own token (sheet-token.ts) and calls `grantShare` directly.
import { normalizeOrigin } from "../../../core/access/origins.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { parseShareTerms } from "../../../core/shares/grant.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { parseAuthorizationToken, isTokenExpired } from "./authorization-token.ts";
import { toTokenBinding } from "./authorize-share-request.ts";
import type { GrantResult } from "./earlier-decision.ts";
import { grantShare, type GrantRequest, type Grantor } from "./grant-share.ts";

export interface ShareDecision extends Omit<GrantRequest, "decisionKey" | "checkDecision" | "requestEvidence" | "fieldChanges"> {
  readonly state: string | null;
  /** The token from GET /v1/authorize; null if the caller requested none. */
  readonly token: string | null;
}

const staleTokenRefusal = refuse(
  "invalid_request",
  "authorize_token: must belong to this request and be at most 10 minutes old. Request a new one from GET /v1/authorize.",
);

const checkDecisionAgainstToken = async (services: ReadDependencies, decision: ShareDecision): Promise<Result<true, "invalid_request">> => {
  const { token, clientId } = decision;
  if (token === null || clientId === null) return ok(true);
  const terms = parseShareTerms(decision.purpose, decision.disclosureText);
  if (!terms.ok) return terms;
  const origin = normalizeOrigin(decision.origin);
  const content = await parseAuthorizationToken(services, token, toTokenBinding({ ...decision, ...terms.value, origin, clientId }));
  if (content === null || isTokenExpired(content, services.clock()) || !token.startsWith(`az_${shardOfId(clientId)}`))
    return staleTokenRefusal;
  const { scope, needed } = content.requestedScope;
  if (decision.scope.some((key) => !scope.includes(key)))
    return refuse("invalid_request", "scope: must contain only fields from the request.");
  if (needed.some((key) => !decision.scope.includes(key)))
    return refuse("invalid_request", "scope: must contain every field that the request requires.");
  return ok(true);
};

/**
 * Grants the share. Returns the same errors as `grantShare`, and `invalid_request` for a token that does not match the decision. Errors
 * about the client, the account and the origin come before errors about the token.
 */
export const decideShare = async (
  services: ShareWriteDependencies,
  grantor: Grantor,
  decision: ShareDecision,
  saveIdempotentResponse?: SaveIdempotentResponse<GrantResult>,
): Promise<Result<GrantResult>> =>
  grantShare(
    services,
    grantor,
    {
      ...decision,
      requestEvidence: "api",
      decisionKey: decision.token,
      checkDecision: () => checkDecisionAgainstToken(services, decision),
    },
    saveIdempotentResponse,
  );
