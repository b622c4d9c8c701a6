// Implements GET /v1/business/portal/members.
import type { MemberSession } from "../../../core/access/session.ts";
import { listMembersAndInvitations, type Member } from "../../../storage/members.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Lists the business's members and open invitations. */
export const listMembers = (services: ReadDependencies, member: MemberSession): Lookup<readonly Member[]> =>
  listMembersAndInvitations(getBusinessDatabase(services, member), services.vault, member.business.id, services.clock());
