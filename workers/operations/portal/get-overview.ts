// Loads the data for the portal's overview page.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { buildActivity, type Activity } from "../../../core/accounts/activity.ts";
import type { DeadlinePage } from "../../../storage/deadlines.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";
import { lookUpActivity } from "./get-activity.ts";
import { lookUpDeadlines, mergeDeadlines } from "./list-deadlines.ts";

/** Reads one environment's activity and open deadlines, with one database round trip per shard. */
export const getOverview = async (
  services: ReadDependencies,
  member: MemberSession,
  environment: Environment,
): Promise<{ readonly activity: Activity; readonly due: DeadlinePage }> => {
  const now = services.clock();
  const found = await queryShardsOf(services, member.business, (db) =>
    combineLookups(db, [lookUpActivity(db, member, environment, now), lookUpDeadlines(db, member, environment)]),
  );
  return {
    activity: buildActivity(
      found.flatMap(([days]) => days),
      now,
    ),
    due: mergeDeadlines(found.map(([, page]) => page)),
  };
};
