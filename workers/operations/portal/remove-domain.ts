// Implements DELETE /v1/business/portal/domains/{domain_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findDomain, deleteDomain } from "../../../storage/domains.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";

/** Removes a domain. After this, submissions from the domain are refused. Issued certificates stay unchanged. Can return `not_found`. */
export const removeDomain = async (
  services: WriteDependencies,
  member: MemberSession,
  id: string,
): Promise<Result<string, "not_found">> => {
  const db = getBusinessDatabase(services, member);
  const found = await findDomain(db, member.business.id, id);
  if (found === null) return refuse("not_found");
  const action: AuditedAction = { type: "domain.removed", entityType: "domain", entityId: id, payload: { domain: found.domain } };
  await commitWithAudit(services, member, [deleteDomain(db, member.business.id, id)], action, { onlyIf: hasPreviousChange() });
  return ok(id);
};
