// Activity charts of the portal overview.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { getActivityStart, buildActivity, type Activity } from "../../../core/accounts/activity.ts";
import { listDailyActivity } from "../../../storage/activity.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Reads daily figures of one environment up to now. */
export const getActivity = (services: ReadDependencies, member: MemberSession, environment: Environment): Lookup<Activity> => {
  const now = services.clock();
  const scope = { businessId: member.business.id, environment };
  return listDailyActivity(getBusinessDatabase(services, member), scope, getActivityStart(now)).map((days) => buildActivity(days, now));
};
