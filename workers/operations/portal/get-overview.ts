// Loads the data for the portal's overview page.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { Activity } from "../../../core/accounts/activity.ts";
import type { DeadlinePage } from "../../../storage/deadlines.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { getActivity } from "./get-activity.ts";
import { listDeadlines } from "./list-deadlines.ts";

/** Reads one environment's activity and open deadlines in one database round trip. */
export const getOverview = async (
  services: ReadDependencies,
  member: MemberSession,
  environment: Environment,
): Promise<{ readonly activity: Activity; readonly due: DeadlinePage }> => {
  const [activity, due] = await combineLookups(getBusinessDatabase(services, member), [
    getActivity(services, member, environment),
    listDeadlines(services, member, environment),
  ]);
  return { activity, due };
};
