// A business's daily activity counts. Reading them costs the same for ten certificates as for a million.
import { asc, eq, getColumns, gte } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { DailyCounts } from "../core/accounts/activity.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf } from "./query.ts";
import { dailyActivity } from "./schema.ts";

/** Lists counts since `since` (midnight UTC), oldest first. */
export const listDailyActivity = (
  db: Database,
  of: { readonly businessId: BusinessId; readonly environment: Environment },
  since: Instant,
): Lookup<readonly DailyCounts[]> => {
  const { businessId, environment, ...counts } = getColumns(dailyActivity);
  const days = db
    .select(counts)
    .from(dailyActivity)
    .where(allOf(eq(businessId, of.businessId), eq(environment, of.environment), gte(counts.day, since)))
    .orderBy(asc(counts.day));
  return createLookup(db, [days], ([rows]) => rows);
};
