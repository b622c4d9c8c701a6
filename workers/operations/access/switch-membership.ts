import type { MemberSession, Session } from "../../../core/access/session.ts";
import { shardOfId } from "../../../core/ids.ts";
import { commit } from "../../../storage/commit.ts";
import { findOpenInvitation, acceptInvitationByAddress, deleteAcceptedInvitation } from "../../../storage/members.ts";
import { hasPreviousChange, type Condition } from "../../../storage/query.ts";
import { deleteSession, insertSessionForMember, hasSession, findSessionByTokenHash } from "../../../storage/sessions.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";
import { prepareSession } from "./prepare-session.ts";
import { createInvitationDomainEvent } from "./sign-in-changes.ts";

interface MembershipSwitch {
  readonly id: string;
  readonly userAgent: string | undefined;
  /** Whether the address has something in another home than this seat's. */
  readonly hasOtherShards: boolean;
  readonly isInvited?: boolean;
}

/** One session becomes one session: whoever sends it twice at once goes one way. False where it has ended already. */
const endCurrentSession = async ({ shards }: Stores, { userId, tokenHash }: MemberSession): Promise<boolean> =>
  (await deleteSession(shards.forId(userId), tokenHash).run()).meta.changes > 0;

/** To a seat of the address, or by an invitation to one that begins with the session. Null where neither is there any more. */
export const switchMembership = async (
  services: WriteDependencies,
  member: MemberSession,
  { id, userAgent, hasOtherShards, isInvited = false }: MembershipSwitch,
): Promise<{ readonly token: string; readonly session: Session } | null> => {
  const { emailIndex, verifiedAt } = member;
  const db = services.shards.forId(id);
  const { token, row } = await prepareSession(services, shardOfId(id), userAgent);
  const invitation = isInvited ? await findOpenInvitation(db, id, row.now) : null;
  if ((isInvited && invitation === null) || !(await endCurrentSession(services, member))) return null;
  const begins = (condition?: Condition) =>
    insertSessionForMember(db, { ...row, hasOtherShards }, { id, emailIndex, verifiedAt }, condition);
  const rows = isInvited
    ? [acceptInvitationByAddress(db, id, emailIndex, row.now), begins(hasPreviousChange()), deleteAcceptedInvitation(db, id)]
    : [begins()];
  const facts = invitation === null ? [] : [createInvitationDomainEvent(invitation, "member.joined", row.now)];
  await commit(db, services, rows, facts, hasSession(row.tokenHash));
  const session = await findSessionByTokenHash(db, row.tokenHash, row.now);
  return session === null ? null : { token, session };
};
