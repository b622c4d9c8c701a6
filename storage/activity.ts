// What was counted of a business day by day. It costs as much at a million certificates as at ten.
import { asc, eq, getColumns, gte } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { CountedDay } from "../core/accounts/activity.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { allOf } from "./query.ts";
import { activityDays } from "./schema.ts";

/** From that day on, the earliest first; `since` is midnight UTC. */
export const countedDays = (
  db: Database,
  of: { readonly businessId: BusinessId; readonly environment: Environment },
  since: Instant,
): Lookup<readonly CountedDay[]> => {
  const { businessId, environment, ...counted } = getColumns(activityDays);
  const days = db
    .select(counted)
    .from(activityDays)
    .where(allOf(eq(businessId, of.businessId), eq(environment, of.environment), gte(counted.day, since)))
    .orderBy(asc(counted.day));
  return lookup(db, [days], ([rows]) => rows);
};
