// Implements DELETE /v1/business/portal/members/{member_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import { ok, type Result } from "../../../core/result.ts";
import { deleteMember } from "../../../storage/members.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { changeMember } from "./change-member.ts";

/** Removes a member with their sessions and passkeys, or an invitation. Can return `not_found` and `last_owner`. */
export const removeMember = async (
  services: WriteDependencies,
  member: MemberSession,
  id: string,
): Promise<Result<string, "not_found" | "last_owner">> => {
  const removed = await changeMember(services, member, id, {
    action: { type: "member.removed", entityType: "member", entityId: id },
    isDone: () => false,
    prepare: (db, found) => deleteMember(db, member.business.id, found),
  });
  return removed.ok ? ok(id) : removed;
};
