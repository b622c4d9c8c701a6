// Implements POST /v1/business/portal/domains.
import type { MemberSession } from "../../../core/access/session.ts";
import { parseClaimedDomain, generateDomainToken, claimLifetimeMs } from "../../../core/accounts/domain-claim.ts";
import { generateId, shardOfId } from "../../../core/ids.ts";
import { ok, refuseWhen, type Result } from "../../../core/result.ts";
import { insertDomain, isDomainAlreadyClaimed, isDomainLimitReached, type Domain } from "../../../storage/domains.ts";
import type { PortalWriteDependencies } from "./dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { createOnce, type IdempotentResult } from "./create-once.ts";
import { getLocalHosts } from "./find-domain-proof.ts";

type AddDomainRefusal = "invalid_request" | "domain_taken" | "domain_limit" | "idempotency_conflict";

/**
 * Adds a pending domain and the token that verifies it. Each idempotency key adds at most one domain. Can return `invalid_request`,
 * `domain_taken`, `domain_limit` and `idempotency_conflict`.
 */
export const addDomain = async (
  services: PortalWriteDependencies,
  member: MemberSession,
  request: { readonly domain: string; readonly idempotencyKey: string | null },
): Promise<Result<IdempotentResult<Domain>, AddDomainRefusal>> => {
  const claimed = parseClaimedDomain(request.domain, {
    getRegistrableDomain: services.getRegistrableDomain,
    localHosts: getLocalHosts(services),
  });
  if (!claimed.ok) return claimed;
  const { business } = member;
  const domain = claimed.value;
  const operation = { route: "POST /v1/business/portal/domains", key: request.idempotencyKey, input: { domain } };
  return createOnce<Domain>(services, member, operation, async (createdAt) => {
    const id = generateId("dom_", shardOfId(business.id), services.random);
    const claim = { id, domain, token: generateDomainToken(services.random), createdAt, expiresAt: createdAt + claimLifetimeMs };
    return ok({
      value: { ...claim, status: "pending", method: null, verifiedAt: null, checkedAt: null, lapsesAt: null },
      statements: insertDomain(getBusinessDatabase(services, member), business.id, claim),
      action: { type: "domain.added", entityType: "domain", entityId: id, payload: { domain } },
    });
  })
    .catch(refuseWhen(isDomainAlreadyClaimed, "domain_taken"))
    .catch(refuseWhen(isDomainLimitReached, "domain_limit"));
};
