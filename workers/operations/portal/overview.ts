// What happened to a business's certificates, shares and duties of late, as it sees it first, and by month beside what it pays for.
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
import { together } from "../../../storage/lookups.ts";
import type { Runtime, Stores } from "../../services.ts";
import { homeOf } from "./commit-act.ts";
import { listDeadlines, type DeadlinePage } from "./deadlines.ts";

export { comparedCounts, type Activity, type Figures };

export const readActivity = async (services: Runtime & Stores, member: MemberSession, environment: Environment): Promise<Activity> => {
  const now = services.clock();
  const asked = { businessId: member.business.id, environment };
  return activityOf(await countedDays(homeOf(services, member), asked, activitySince(now)), now);
};

/** The same, with what is due. */
export const readOverview = async (
  services: Runtime & Stores,
  member: MemberSession,
  environment: Environment,
): Promise<{ readonly activity: Activity; readonly due: DeadlinePage }> => {
  const now = services.clock();
  const db = homeOf(services, member);
  const [days, due] = await together(db, [
    countedDays(db, { businessId: member.business.id, environment }, activitySince(now)),
    listDeadlines(services, member, environment),
  ]);
  return { activity: activityOf(days, now), due };
};

/** Live certificates by month: issued up, withdrawn down. */
export const readCertificateMonths = async (services: Runtime & Stores, member: MemberSession): Promise<readonly Figures[]> => {
  const now = services.clock();
  const asked = { businessId: member.business.id, environment: "live" } as const;
  return certificateMonthsOf(await countedDays(homeOf(services, member), asked, monthsSince(now)), now);
};
