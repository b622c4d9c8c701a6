// Lists the deadlines of open withdrawals.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { listOpenDeadlines, type DeadlinePage } from "../../../storage/deadlines.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

const maxShownDeadlines = 200;

/** Lists up to 200 open deadlines in an environment, earliest first, so that overdue ones come first. */
export const listDeadlines = (services: Stores, member: MemberSession, environment: Environment): Lookup<DeadlinePage> =>
  listOpenDeadlines(getBusinessDatabase(services, member), { businessId: member.business.id, environment }, maxShownDeadlines);
