// What happened to a business's certificates, shares and duties of late, as it sees it first, and by month beside what it pays for; and what
// is due.
import {
  activityOf,
  activitySince,
  certificateMonthsOf,
  comparedCounts,
  monthsSince,
  type Activity,
  type Figures,
} from "../../../core/accounts/activity.ts";
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { countedDays } from "../../../storage/activity.ts";
import { openDeadlines, type Deadline, type DeadlinePage } from "../../../storage/deadlines.ts";
import { together, type Lookup } from "../../../storage/lookups.ts";
import type { Runtime, Stores } from "../../services.ts";
import { homeOf } from "./commit-act.ts";

export { comparedCounts, type Activity, type Deadline, type DeadlinePage, type Figures };

const shownDeadlines = 200;

/** Open ones, the earliest first: what is overdue leads. */
export const listDeadlines = (services: Stores, member: MemberSession, environment: Environment): Lookup<DeadlinePage> =>
  openDeadlines(homeOf(services, member), { businessId: member.business.id, environment }, shownDeadlines);

export const readActivity = (services: Runtime & Stores, member: MemberSession, environment: Environment): Lookup<Activity> => {
  const now = services.clock();
  const asked = { businessId: member.business.id, environment };
  return countedDays(homeOf(services, member), asked, activitySince(now)).map((days) => activityOf(days, now));
};

/** The same, with what is due. */
export const readOverview = async (
  services: Runtime & Stores,
  member: MemberSession,
  environment: Environment,
): Promise<{ readonly activity: Activity; readonly due: DeadlinePage }> => {
  const [activity, due] = await together(homeOf(services, member), [
    readActivity(services, member, environment),
    listDeadlines(services, member, environment),
  ]);
  return { activity, due };
};

/** Live certificates by month: issued up, withdrawn down. */
export const readCertificateMonths = (services: Runtime & Stores, member: MemberSession): Lookup<readonly Figures[]> => {
  const now = services.clock();
  const asked = { businessId: member.business.id, environment: "live" } as const;
  return countedDays(homeOf(services, member), asked, monthsSince(now)).map((days) => certificateMonthsOf(days, now));
};
