import type { MemberSession, Role } from "../../../core/access/session.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { findMember, updateMembershipRole, isLastOwner, type Member } from "../../../storage/members.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";

/** Of a member or of an invitation. Counts from the person's next request on. */
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
  const act: AuditedAction = { type: "member.role_changed", entityType: "member", entityId: id, payload: { role } };
  return commitWithAudit(services, member, updateMembershipRole(db, business.id, id, role), act).then(
    () => ok({ ...found, role }),
    refuseWhen(isLastOwner, "last_owner"),
  );
};
