// Replaces a session with a session in another membership of the same email address.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { InvitedSession, MemberSession } from "../../../core/access/session.ts";
import { shardOfId } from "../../../core/ids.ts";
import { commit } from "../../../storage/commit.ts";
import { findOpenInvitation, acceptInvitation, deleteAcceptedInvitation } from "../../../storage/members.ts";
import { hasPreviousChange, type Condition } from "../../../storage/query.ts";
import { deleteSession, insertSessionForMember, hasSession, findSessionByTokenHash } from "../../../storage/sessions.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";
import { prepareSession } from "./prepare-session.ts";
import { createInvitationDomainEvent } from "./sign-in-changes.ts";

/** The session of a member, or of a person who was invited but has not joined yet. */
export interface ReplacedSession extends Pick<MemberSession | InvitedSession, "userId" | "tokenHash" | "verifiedAt"> {
  readonly emailIndex: AddressIndex;
}

interface MembershipSwitch {
  readonly id: string;
  readonly userAgent: string | undefined;
  /** True if the address has memberships or invitations outside this membership's shard. */
  readonly hasOtherShards: boolean;
  readonly isInvited?: boolean;
}

/**
 * Ends the current session. Returns false if it has already ended, so that only one of several concurrent switches starts a new session.
 */
const endCurrentSession = async ({ shards }: Stores, { userId, tokenHash }: ReplacedSession): Promise<boolean> =>
  (await deleteSession(shards.forId(userId), tokenHash).run()).meta.changes > 0;

/**
 * Ends the current session and starts one in the membership `id`. If `id` is an invitation, the batch that starts the new session also
 * accepts it. Returns null if the session, the membership or the invitation no longer exists.
 */
export const switchMembership = async (
  services: WriteDependencies,
  replaced: ReplacedSession,
  { id, userAgent, hasOtherShards, isInvited = false }: MembershipSwitch,
): Promise<{ readonly token: string; readonly session: MemberSession } | null> => {
  const { emailIndex, verifiedAt } = replaced;
  const db = services.shards.forId(id);
  const { token, row } = await prepareSession(services, shardOfId(id), userAgent);
  const invitation = isInvited ? await findOpenInvitation(db, id, row.now) : null;
  if ((isInvited && invitation === null) || !(await endCurrentSession(services, replaced))) return null;
  const insertNewSession = (condition?: Condition) =>
    insertSessionForMember(db, { ...row, hasOtherShards }, { id, emailIndex, verifiedAt }, condition);
  const statements = isInvited
    ? [acceptInvitation(db, id, emailIndex, row.now), insertNewSession(hasPreviousChange()), deleteAcceptedInvitation(db, id)]
    : [insertNewSession()];
  const domainEvents = invitation === null ? [] : [createInvitationDomainEvent(invitation, "member.joined", row.now)];
  await commit(db, services, statements, domainEvents, hasSession(row.tokenHash));
  const session = await findSessionByTokenHash(db, row.tokenHash, row.now);
  return session?.realm === "business" ? { token, session } : null;
};
