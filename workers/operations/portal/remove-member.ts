// Implements DELETE /v1/business/portal/members/{member_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { findMember, deleteMember, isLastOwner } from "../../../storage/members.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";

/** Removes a member with their sessions and passkeys, or an invitation. Can return `not_found` and `last_owner`. */
export const removeMember = async (
  services: WriteDependencies,
  member: MemberSession,
  id: string,
): Promise<Result<string, "not_found" | "last_owner">> => {
  const db = getBusinessDatabase(services, member);
  const { business } = member;
  if ((await findMember(db, services.vault, business.id, id, services.clock())) === null) return refuse("not_found");
  const action: AuditedAction = { type: "member.removed", entityType: "member", entityId: id };
  return commitWithAudit(services, member, deleteMember(db, business.id, id), action).then(
    () => ok(id),
    refuseWhen(isLastOwner, "last_owner"),
  );
};
