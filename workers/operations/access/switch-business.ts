import type { MemberSession } from "../../../core/access/session.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { listMemberships } from "./list-memberships.ts";
import { switchMembership } from "./switch-membership.ts";

/** Goes to another business of the address, or accepts its invitation. Refuses whatever is neither. */
export const switchBusiness = async (
  services: WriteDependencies,
  member: MemberSession,
  { id, userAgent }: { readonly id: string; readonly userAgent: string | undefined },
): Promise<Result<{ readonly token: string; readonly hasJoined: boolean }, "not_found">> => {
  const seats = await listMemberships(services, member);
  const seat = seats.find((one) => one.id === id && id !== member.userId);
  if (seat === undefined) return refuse("not_found");
  const isInvited = seat.invitedUntil !== null;
  const elsewhere = seats.some((one) => shardOfId(one.id) !== shardOfId(id));
  const moved = await switchMembership(services, member, { id, userAgent, hasOtherShards: elsewhere, isInvited });
  return moved === null ? refuse("not_found") : ok({ token: moved.token, hasJoined: isInvited });
};
