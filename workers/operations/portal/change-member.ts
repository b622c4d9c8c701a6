// Changes or removes a member or an invitation. If several requests make the same change, only one of them writes an audit entry.
import type { MemberSession } from "../../../core/access/session.ts";
import { createAuditedEvent, type AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { findMember, isLastOwner, type Member } from "../../../storage/members.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

// Two attempts, because the person may accept the invitation after the first attempt found it and before it commits.
const maxAttempts = 2;

interface MemberChange {
  readonly action: AuditedAction;
  /** Returns true if the change would have no effect on the person. */
  readonly isDone: (found: Member) => boolean;
  /** Returns the statements of the change. The last one changes or deletes the person's row. */
  readonly prepare: (db: Database, found: Member) => readonly Statement[];
}

/**
 * Commits a change to a member or open invitation with its audit entry, unless the change would have no effect. Returns the person as found
 * before the change. Can return `not_found` and `last_owner`.
 */
export const changeMember = async (
  services: WriteDependencies,
  member: MemberSession,
  id: string,
  { action, isDone, prepare }: MemberChange,
): Promise<Result<Member, "not_found" | "last_owner">> => {
  const db = getBusinessDatabase(services, member);
  const { chain, id: businessId } = member.business;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const found = await findMember(db, services.vault, businessId, id, services.clock());
    if (found === null) return refuse("not_found");
    if (isDone(found)) return ok(found);
    const event = createAuditedEvent({ chain, actor: { kind: "member", id: member.userId } }, action, services.clock());
    const committed = await commit(db, services, prepare(db, found), [event], hasPreviousChange()).then(
      ok,
      refuseWhen(isLastOwner, "last_owner"),
    );
    if (!committed.ok) return committed;
    if ((committed.value.at(-1) as D1Result).meta.changes > 0) return ok(found);
  }
  return refuse("not_found");
};
