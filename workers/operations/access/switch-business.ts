// Switches a session to another business that the signed-in person belongs to or is invited to.
import type { MemberSession } from "../../../core/access/session.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { listMemberships } from "./list-memberships.ts";
import { switchMembership } from "./switch-membership.ts";

/**
 * Replaces the session with a session in another of the person's memberships, or accepts one of the person's invitations. Returns
 * `not_found` for the current membership and for unknown IDs.
 */
export const switchBusiness = async (
  services: WriteDependencies,
  member: MemberSession,
  { id, userAgent }: { readonly id: string; readonly userAgent: string | undefined },
): Promise<Result<{ readonly token: string; readonly hasJoined: boolean }, "not_found">> => {
  const memberships = await listMemberships(services, member);
  const membership = memberships.find((listed) => listed.id === id && id !== member.userId);
  if (membership === undefined) return refuse("not_found");
  const isInvited = membership.invitedUntil !== null;
  const hasOtherShards = memberships.some((listed) => shardOfId(listed.id) !== shardOfId(id));
  const switched = await switchMembership(
    services,
    { ...member, emailIndex: services.vault.readIndex(member.emailIndex) },
    { id, userAgent, hasOtherShards, isInvited },
  );
  return switched === null ? refuse("not_found") : ok({ token: switched.token, hasJoined: isInvited });
};
