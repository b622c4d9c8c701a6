// The deadlines of a business, and what its people say of them.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { openDeadlines, type Deadline, type DeadlinePage } from "../../../storage/deadlines.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../../services.ts";
import { homeOf } from "./commit-act.ts";

export type { Deadline, DeadlinePage };

const shown = 200;

/** Open ones, the earliest first: what is overdue leads. */
export const listDeadlines = (services: Stores, member: MemberSession, environment: Environment): Lookup<DeadlinePage> =>
  openDeadlines(homeOf(services, member), { businessId: member.business.id, environment }, shown);
