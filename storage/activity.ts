// What was counted of a business day by day. It costs as much at a million certificates as at ten.
import { asc, eq, getColumns, gte } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { DailyCounts } from "../core/accounts/activity.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf } from "./query.ts";
import { dailyActivity } from "./schema.ts";

/** From that day on, the earliest first; `since` is midnight UTC. */
export const listDailyActivity = (
  db: Database,
  of: { readonly businessId: BusinessId; readonly environment: Environment },
  since: Instant,
): Lookup<readonly DailyCounts[]> => {
  const { businessId, environment, ...counted } = getColumns(dailyActivity);
  const days = db
    .select(counted)
    .from(dailyActivity)
    .where(allOf(eq(businessId, of.businessId), eq(environment, of.environment), gte(counted.day, since)))
    .orderBy(asc(counted.day));
  return createLookup(db, [days], ([rows]) => rows);
};
