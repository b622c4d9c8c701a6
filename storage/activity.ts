// What was counted of a business day by day: certificates issued stand with the certificates' own counters, the rest in activity_days.
// What it costs grows with days and with the purposes that certificates name, not with certificates.
import { asc, eq, gte, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { CountedDay } from "../core/accounts/activity.ts";
import type { BusinessId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { allOf } from "./query.ts";
import { activityDays, certificateGroups, certificateTallies, purposes } from "./schema.ts";

/** From those days on, the earliest first. */
export const countedDays = async (
  db: Database,
  { businessId, environment }: { readonly businessId: BusinessId; readonly environment: Environment },
  since: { readonly issued: Instant; readonly happened: Instant },
): Promise<readonly CountedDay[]> => {
  const { active, revoked, span, start, groupId } = certificateTallies;
  const [issued, happened] = await batch(db, [
    db
      .select({ day: start, issued: sql<number>`sum(${active} + ${revoked})` })
      .from(purposes)
      .innerJoin(certificateGroups, eq(certificateGroups.purposeId, purposes.id))
      .innerJoin(certificateTallies, eq(groupId, certificateGroups.id))
      .where(allOf(eq(purposes.businessId, businessId), eq(purposes.environment, environment), eq(span, dayMs), gte(start, since.issued)))
      .groupBy(start)
      .orderBy(asc(start)),
    db
      .select({ day: activityDays.day, withdrawn: activityDays.withdrawn, onTime: activityDays.onTime, late: activityDays.late })
      .from(activityDays)
      .where(
        allOf(eq(activityDays.businessId, businessId), eq(activityDays.environment, environment), gte(activityDays.day, since.happened)),
      )
      .orderBy(asc(activityDays.day)),
  ]);
  const none = { withdrawn: 0, onTime: 0, late: 0 };
  return [...issued.map((row) => ({ ...none, ...row })), ...happened.map((row) => ({ issued: 0, ...row }))];
};
