// A business's daily activity. It is read from counters, so the cost does not grow with the number of certificates.
import { asc, eq, getColumns, gte, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { DailyCounts } from "../core/accounts/activity.ts";
import type { BusinessId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { certificatesByOrd, isNewToCounters } from "./certificate-counters.ts";
import type { Database } from "./database.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf } from "./query.ts";
import { certificates, dailyActivity } from "./schema.ts";

const noActivity = { issued: 0, withdrawn: 0, opened: 0, granted: 0, revoked: 0, onTime: 0, late: 0 };

/**
 * Lists the daily counts since `since` (midnight UTC). The caller must add up rows for the same day, because each certificate that the
 * counters do not include yet has a separate row.
 */
export const listDailyActivity = (
  db: Database,
  scope: { readonly businessId: BusinessId; readonly environment: Environment },
  since: Instant,
): Lookup<readonly DailyCounts[]> => {
  const { businessId, environment, ...counts } = getColumns(dailyActivity);
  const days = db
    .select(counts)
    .from(dailyActivity)
    .where(allOf(eq(businessId, scope.businessId), eq(environment, scope.environment), gte(counts.day, since)))
    .orderBy(asc(counts.day));
  const added = db
    .select({ issuedAt: sql<Instant>`${certificates.issuedAt}`.as("issued_at") })
    .from(certificatesByOrd)
    .where(
      allOf(
        isNewToCounters,
        eq(certificates.businessId, scope.businessId),
        eq(certificates.environment, scope.environment),
        gte(certificates.issuedAt, since),
      ),
    );
  return createLookup(db, [days, added], ([rows, issued]) => [
    ...rows,
    ...issued.map(({ issuedAt }) => ({ ...noActivity, day: issuedAt - (issuedAt % dayMs), issued: 1 })),
  ]);
};
