// What a business has used of the service since the beginning of a day: from the counters that stand with its certificates, so that it
// costs as much at a million of them as at ten.
import { eq, gte, sql } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { allOf } from "./query.ts";
import { certificateGroups, certificateTallies, purposes } from "./schema.ts";

export interface Usage {
  readonly issued: number;
  /** Of those, withdrawn since. */
  readonly withdrawn: number;
}

/** Live certificates issued from that day on; `day` is midnight UTC. */
export const usageSince = async (db: Database, businessId: BusinessId, day: Instant): Promise<Usage> => {
  const { active, revoked, span, start, groupId } = certificateTallies;
  const used = await db
    .select({
      issued: sql<number>`coalesce(sum(${active} + ${revoked}), 0)`,
      withdrawn: sql<number>`coalesce(sum(${revoked}), 0)`,
    })
    .from(purposes)
    .innerJoin(certificateGroups, eq(certificateGroups.purposeId, purposes.id))
    .innerJoin(certificateTallies, eq(groupId, certificateGroups.id))
    .where(allOf(eq(purposes.businessId, businessId), eq(purposes.environment, "live"), eq(span, dayMs), gte(start, day)))
    .get();
  return used ?? { issued: 0, withdrawn: 0 };
};
