// Declines an invitation to a business.
import { refuse, ok, type Result } from "../../../core/result.ts";
import { commit } from "../../../storage/commit.ts";
import { findOpenInvitation, deleteDeclinedInvitation } from "../../../storage/members.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { listMembershipsOfAddress, type VerifiedAddress } from "./list-memberships.ts";
import { createInvitationDomainEvent } from "./sign-in-changes.ts";

/**
 * Deletes an open invitation to the verified email address, and records this in the inviting business's audit chain. Returns `not_found` if
 * the invitation is unknown, expired or addressed to another mailbox.
 */
export const declineInvitation = async (
  services: WriteDependencies,
  address: VerifiedAddress,
  id: string,
): Promise<Result<null, "not_found">> => {
  const isInvited = (await listMembershipsOfAddress(services, address)).some(
    (membership) => membership.id === id && membership.invitedUntil !== null,
  );
  const db = services.shards.forId(id);
  const now = services.clock();
  const invitation = isInvited ? await findOpenInvitation(db, id, now) : null;
  if (invitation === null) return refuse("not_found");
  const domainEvent = createInvitationDomainEvent(invitation, "member.declined", now);
  const [{ meta }] = await commit(db, services, [deleteDeclinedInvitation(db, id, address.emailIndex)], [domainEvent], hasPreviousChange());
  return meta.changes === 0 ? refuse("not_found") : ok(null);
};
