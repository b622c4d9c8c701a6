// Lists a verified email address's memberships and invitations in all shards.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { isSameEmailAddress } from "../../../core/email-address.ts";
import { listMembershipsByAddress, type Membership } from "../../../storage/members.ts";
import { memberEmailContext } from "../../../storage/people-contexts.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface VerifiedAddress {
  readonly email: string;
  readonly emailIndex: AddressIndex;
}

/**
 * Lists the mailbox's memberships (up to 100 per shard), most recently used first, and then its invitations (up to 20 per shard). Skips
 * shards that do not respond, so that a business's pages do not depend on other shards.
 */
export const listMembershipsOfAddress = async (
  services: ReadDependencies,
  { email, emailIndex }: VerifiedAddress,
): Promise<readonly Membership[]> => {
  const { vault, shards } = services;
  const now = services.clock();
  const found = await Promise.all(
    shards.all().map(([, db]) => runIsolated(services, "memberships", async () => listMembershipsByAddress(db, vault, emailIndex, now))),
  );
  const toSortRank = ({ invitedUntil }: Membership): number => (invitedUntil === null ? 0 : 1);
  return found
    .flatMap((memberships) => memberships ?? [])
    .filter((membership) => isSameEmailAddress(membership.email, email))
    .sort((a, b) => toSortRank(a) - toSortRank(b) || (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0) || (a.id < b.id ? -1 : 1));
};

/** Lists the memberships and invitations of the signed-in member's address. */
export const listMemberships = async (services: ReadDependencies, member: MemberSession): Promise<readonly Membership[]> => {
  const email = await services.vault.open(memberEmailContext(member.userId, member.business.id), member.emailSealed);
  return listMembershipsOfAddress(services, { email, emailIndex: services.vault.readIndex(member.emailIndex) });
};
