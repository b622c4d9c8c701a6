import type { MemberSession } from "../../../core/access/session.ts";
import { isSameEmailAddress } from "../../../core/email-address.ts";
import { listMembershipsByAddress, type Membership } from "../../../storage/members.ts";
import { memberEmailContext } from "../../../storage/people-contexts.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * The current one among them. Seats first, the one that was used last first; then invitations. A home that does not answer hides its own
 * for that while: the pages of a business do not wait for another's.
 */
export const listMemberships = async (services: ReadDependencies, member: MemberSession): Promise<readonly Membership[]> => {
  const { vault, shards } = services;
  const now = services.clock();
  const proved = await vault.open(memberEmailContext(member.userId, member.business.id), member.emailSealed);
  const found = await Promise.all(
    shards.all().map(([, db]) => runIsolated(services, "seats", async () => listMembershipsByAddress(db, vault, member.emailIndex, now))),
  );
  const invitedLast = ({ invitedUntil }: Membership): number => (invitedUntil === null ? 0 : 1);
  return found
    .flatMap((ofHome) => ofHome ?? [])
    .filter(({ email }) => isSameEmailAddress(email, proved))
    .sort((a, b) => invitedLast(a) - invitedLast(b) || (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0) || (a.id < b.id ? -1 : 1));
};
