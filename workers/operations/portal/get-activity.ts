// Loads the data for the activity charts on the portal's overview page.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { getActivityStart, buildActivity, type Activity } from "../../../core/accounts/activity.ts";
import type { Instant } from "../../../core/time.ts";
import { listDailyActivity } from "../../../storage/activity.ts";
import type { Database } from "../../../storage/database.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

/** Reads a business's daily figures from one shard. */
export const lookUpActivity = (db: Database, { business }: MemberSession, environment: Environment, now: Instant) =>
  listDailyActivity(db, { businessId: business.id, environment }, getActivityStart(now));

/** Returns the chart data of one environment, up to now. */
export const getActivity = async (services: ReadDependencies, member: MemberSession, environment: Environment): Promise<Activity> => {
  const now = services.clock();
  const days = await queryShardsOf(services, member.business, (db) => lookUpActivity(db, member, environment, now));
  return buildActivity(days.flat(), now);
};
