// Loads the data for the activity charts on the portal's overview page.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { getActivityStart, buildActivity, type Activity } from "../../../core/accounts/activity.ts";
import { listDailyActivity } from "../../../storage/activity.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Reads one environment's daily figures, up to now. */
export const getActivity = (services: ReadDependencies, member: MemberSession, environment: Environment): Lookup<Activity> => {
  const now = services.clock();
  const scope = { businessId: member.business.id, environment };
  return listDailyActivity(getBusinessDatabase(services, member), scope, getActivityStart(now)).map((days) => buildActivity(days, now));
};
