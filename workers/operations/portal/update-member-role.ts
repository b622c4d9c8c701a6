// Implements PATCH /v1/business/portal/members/{member_id}.
import type { MemberSession, Role } from "../../../core/access/session.ts";
import { ok, type Result } from "../../../core/result.ts";
import { updateMembershipRole, type Member } from "../../../storage/members.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { changeMember } from "./change-member.ts";

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
  const found = await changeMember(services, member, id, {
    action: { type: "member.role_changed", entityType: "member", entityId: id, payload: { role } },
    isDone: (current) => current.role === role,
    prepare: (db, current) => [updateMembershipRole(db, member.business.id, current, role)],
  });
  return found.ok ? ok({ ...found.value, role }) : found;
};
