// Counts certificates per month, for billing and charts.
import type { MemberSession } from "../../../core/access/session.ts";
import { getMonthlyActivityStart, buildCertificateMonths, type ChartPoint } from "../../../core/accounts/activity.ts";
import type { Instant } from "../../../core/time.ts";
import { listDailyActivity } from "../../../storage/activity.ts";
import type { Database } from "../../../storage/database.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

/** Reads one shard's daily figures for the months that `getCertificateMonths` shows. */
export const lookUpMonths = (db: Database, { business }: MemberSession, now: Instant) =>
  listDailyActivity(db, { businessId: business.id, environment: "live" }, getMonthlyActivityStart(now));

/** Counts issued and withdrawn live certificates per month. */
export const getCertificateMonths = async (services: ReadDependencies, member: MemberSession): Promise<readonly ChartPoint[]> => {
  const now = services.clock();
  const days = await queryShardsOf(services, member.business, (db) => lookUpMonths(db, member, now));
  return buildCertificateMonths(days.flat(), now);
};
