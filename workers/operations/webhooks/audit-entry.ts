// Endpoints live in the business's log, the audit entries in its database, and no batch spans the two. So an entry is committed
// before its change is made: a process that dies between them leaves an entry too many and never a change that nobody can
// account for.
import type { MemberSession } from "../../../core/access/session.ts";
import { webhookFact } from "../../../core/webhooks/management.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";

export const databaseOf = (services: Stores, { business }: MemberSession): Database => services.homes.of(business.id);

/** Commits an entry of the audit chain, with rows beside it; throws when it cannot. */
export const enter = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  act: Omit<Parameters<typeof webhookFact>[0], "member" | "at">,
  rows: readonly Statement[] = [],
): Promise<void> => {
  await commit(databaseOf(services, member), services, rows, [webhookFact({ ...act, member, at: services.clock() })]);
};
