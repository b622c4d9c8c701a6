// Accepts an invitation for a person who does not belong to any business yet. People who already belong to one accept invitations with
// switch-business.ts.
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { listMembershipsOfAddress, type VerifiedAddress } from "./list-memberships.ts";
import { switchMembership, type ReplacedSession } from "./switch-membership.ts";

/**
 * Creates the member, and replaces the invited person's session with a session in the business. Returns `not_found` if the invitation is
 * unknown, no longer open or addressed to another mailbox, or if the session has already ended.
 */
export const acceptInvitation = async (
  services: WriteDependencies,
  invited: ReplacedSession & VerifiedAddress,
  { id, userAgent }: { readonly id: string; readonly userAgent: string | undefined },
): Promise<Result<{ readonly token: string }, "not_found">> => {
  const memberships = await listMembershipsOfAddress(services, invited);
  if (!memberships.some((listed) => listed.id === id && listed.invitedUntil !== null)) return refuse("not_found");
  const hasOtherShards = memberships.some((listed) => shardOfId(listed.id) !== shardOfId(id));
  const joined = await switchMembership(services, invited, { id, userAgent, hasOtherShards, isInvited: true });
  return joined === null ? refuse("not_found") : ok({ token: joined.token });
};
