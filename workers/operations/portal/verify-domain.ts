// Implements POST /v1/business/portal/domains/{domain_id}/verify.
import type { VerificationMethod } from "../../../core/access/origins.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { verificationMethods, describeFindings, recheckIntervalMs } from "../../../core/accounts/domain-claim.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, type Refusal, type Result } from "../../../core/result.ts";
import { findDomain, markDomainVerified, type Domain } from "../../../storage/domains.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { PortalWriteDependencies } from "./dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";
import { findDomainProof } from "./find-domain-proof.ts";

/**
 * The `domain_unverified` error, with the other TXT values at the name where the token was expected. Only the portal page shows these
 * values. The API message is constant text.
 */
interface UnverifiedDomain extends Refusal<"domain_unverified"> {
  readonly otherTexts: readonly string[];
}

const noValidTokenMessage = "This domain has no valid token. Remove the domain and add it again.";

/**
 * Looks for a domain's verification token, and marks the domain as verified if it finds the token. If `method` is null, tries all methods.
 * Prefers DNS, because it also covers subdomains. A verified domain stays verified even if nothing is found. If a different method
 * succeeds, it becomes the domain's method. Can return `not_found` and `domain_unverified`.
 */
export const verifyDomain = async (
  services: PortalWriteDependencies,
  member: MemberSession,
  id: string,
  method: VerificationMethod | null,
): Promise<Result<Domain, "not_found"> | UnverifiedDomain> => {
  const db = getBusinessDatabase(services, member);
  const { business } = member;
  const found = await findDomain(db, business.id, id);
  if (found === null) return refuse("not_found");
  const { token, domain, expiresAt, status } = found;
  const isExpired = status === "pending" && expiresAt !== null && expiresAt <= services.clock();
  if (token === null || isExpired) return { ...refuse("domain_unverified", noValidTokenMessage), otherTexts: [] };

  const methods = method === null ? verificationMethods : [method];
  const findings = await Promise.all(
    methods.map(async (tried) => ({ method: tried, ...(await findDomainProof(services, { domain, token }, tried)) })),
  );
  const proof = findings.find(({ finding }) => finding === "found");
  if (proof === undefined)
    return { ...refuse("domain_unverified", describeFindings(findings)), otherTexts: findings.flatMap(({ otherTexts }) => otherTexts) };

  const now = services.clock();
  const { method: verifiedBy } = proof;
  const action: AuditedAction = { type: "domain.verified", entityType: "domain", entityId: id, payload: { domain, method: verifiedBy } };
  await commitWithAudit(
    services,
    member,
    [markDomainVerified(db, id, { method: verifiedBy, now, nextCheckAt: now + recheckIntervalMs })],
    action,
    { at: now, onlyIf: hasPreviousChange() },
  );
  const after = await findDomain(db, business.id, id);
  return after === null ? refuse("not_found") : ok(after); // a concurrent request removed the domain
};
