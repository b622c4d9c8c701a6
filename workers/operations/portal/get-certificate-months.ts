// Counts certificates per month, for billing and charts.
import type { MemberSession } from "../../../core/access/session.ts";
import { getMonthlyActivityStart, buildCertificateMonths, type ChartPoint } from "../../../core/accounts/activity.ts";
import { listDailyActivity } from "../../../storage/activity.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Counts issued and withdrawn live certificates per month. */
export const getCertificateMonths = (services: ReadDependencies, member: MemberSession): Lookup<readonly ChartPoint[]> => {
  const now = services.clock();
  const scope = { businessId: member.business.id, environment: "live" } as const;
  return listDailyActivity(getBusinessDatabase(services, member), scope, getMonthlyActivityStart(now)).map((days) =>
    buildCertificateMonths(days, now),
  );
};
