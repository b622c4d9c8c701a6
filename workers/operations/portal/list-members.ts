import type { MemberSession } from "../../../core/access/session.ts";
import { listMembersAndInvitations, type Member } from "../../../storage/members.ts";
import type { Runtime, Stores } from "../../services.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

export const listMembers = (services: Runtime & Stores, member: MemberSession): Promise<readonly Member[]> =>
  listMembersAndInvitations(getBusinessDatabase(services, member), services.vault, member.business.id, services.clock());
