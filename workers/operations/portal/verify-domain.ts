import type { VerificationMethod } from "../../../core/access/origins.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { verificationMethods, describeFindings, recheckIntervalMs } from "../../../core/accounts/domain-claim.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, type Refusal, type Result } from "../../../core/result.ts";
import { findDomain, markDomainVerified, type Domain } from "../../../storage/domains.ts";
import type { PortalWriteDependencies } from "./dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";
import { findDomainProof } from "./find-domain-proof.ts";

/** Not proved; with what stands in DNS instead, for the page of the business's own people. The wire says it in constant words. */
interface UnverifiedDomain extends Refusal<"domain_unverified"> {
  readonly otherTexts: readonly string[];
}

const notPendingMessage = "This domain waits for no proof. Remove it and add it again.";

/**
 * Looks for the proof and, where it is, marks the domain. DNS counts first, which covers sub-domains too. A domain that is verified stays
 * so when nothing is found; another method that is found takes the place of the one before.
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
  const isOver = status === "pending" && expiresAt !== null && expiresAt <= services.clock();
  if (token === null || isOver) return { ...refuse("domain_unverified", notPendingMessage), otherTexts: [] };

  const tried = method === null ? verificationMethods : [method];
  const seen = await Promise.all(tried.map(async (one) => ({ method: one, ...(await findDomainProof(services, { domain, token }, one)) })));
  const proof = seen.find(({ sighting }) => sighting === "found");
  if (proof === undefined)
    return { ...refuse("domain_unverified", describeFindings(seen)), otherTexts: seen.flatMap(({ otherTexts }) => otherTexts) };

  const now = services.clock();
  const { method: provedBy } = proof;
  const act: AuditedAction = { type: "domain.verified", entityType: "domain", entityId: id, payload: { domain, method: provedBy } };
  await commitWithAudit(
    services,
    member,
    [markDomainVerified(db, id, { method: provedBy, now, nextCheckAt: now + recheckIntervalMs })],
    act,
    { at: now },
  );
  const after = await findDomain(db, business.id, id);
  return after === null ? refuse("not_found") : ok(after); // somebody removed it in between
};
