// Implements PATCH /v1/business/portal/members/{member_id}.
import type { MemberSession, Role } from "../../../core/access/session.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { findMember, updateMembershipRole, isLastOwner, type Member } from "../../../storage/members.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";

/**
 * Changes the role of a member or invitation. The change takes effect with the person's next request. Can return `not_found` and
 * `last_owner`.
 */
export const updateMemberRole = async (
  services: WriteDependencies,
  member: MemberSession,
  id: string,
  role: Role,
): Promise<Result<Member, "not_found" | "last_owner">> => {
  const db = getBusinessDatabase(services, member);
  const { business } = member;
  const found = await findMember(db, services.vault, business.id, id, services.clock());
  if (found === null) return refuse("not_found");
  if (found.role === role) return ok(found);
  const action: AuditedAction = { type: "member.role_changed", entityType: "member", entityId: id, payload: { role } };
  return commitWithAudit(services, member, updateMembershipRole(db, business.id, id, role), action).then(
    () => ok({ ...found, role }),
    refuseWhen(isLastOwner, "last_owner"),
  );
};
