// What happened to a business's certificates, shares and duties of late, as it sees it first, and by month beside what it pays for; what
// is due; and what its first steps are read from.
import {
  activityOf,
  activitySince,
  certificateMonthsOf,
  comparedCounts,
  monthsSince,
  type Activity,
  type Figures,
} from "../../../core/accounts/activity.ts";
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { countedDays } from "../../../storage/activity.ts";
import { certificatePage } from "../../../storage/certificate-list.ts";
import type { Database } from "../../../storage/database.ts";
import { openDeadlines, type Deadline, type DeadlinePage } from "../../../storage/deadlines.ts";
import { together, type Lookup } from "../../../storage/lookups.ts";
import type { Events, Runtime, Stores } from "../../services.ts";
import { listWebhooks } from "../webhooks/endpoints.ts";
import { homeOf } from "./commit-act.ts";
import { listDomains } from "./domains.ts";
import { readAccount } from "./profile.ts";

export { comparedCounts, type Activity, type Deadline, type DeadlinePage, type Figures };

const shownDeadlines = 200;

/** Open ones, the earliest first: what is overdue leads. */
export const listDeadlines = (services: Stores, member: MemberSession, environment: Environment): Lookup<DeadlinePage> =>
  openDeadlines(homeOf(services, member), { businessId: member.business.id, environment }, shownDeadlines);

export const readActivity = (services: Runtime & Stores, member: MemberSession, environment: Environment): Lookup<Activity> => {
  const now = services.clock();
  const asked = { businessId: member.business.id, environment };
  return countedDays(homeOf(services, member), asked, activitySince(now)).map((days) => activityOf(days, now));
};

/** The same, with what is due. */
export const readOverview = async (
  services: Runtime & Stores,
  member: MemberSession,
  environment: Environment,
): Promise<{ readonly activity: Activity; readonly due: DeadlinePage }> => {
  const [activity, due] = await together(homeOf(services, member), [
    readActivity(services, member, environment),
    listDeadlines(services, member, environment),
  ]);
  return { activity, due };
};

/** Live certificates by month: issued up, withdrawn down. */
export const readCertificateMonths = (services: Runtime & Stores, member: MemberSession): Lookup<readonly Figures[]> => {
  const now = services.clock();
  const asked = { businessId: member.business.id, environment: "live" } as const;
  return countedDays(homeOf(services, member), asked, monthsSince(now)).map((days) => certificateMonthsOf(days, now));
};

/** Of test certificates that were withdrawn, the newest: one that was acknowledged is enough. */
const lookedAt = 25;

const newest = (db: Database, { business }: MemberSession, environment: Environment, status: CertificateStatus | null, perPage: number) => {
  const everything = { emailIndex: null, phoneIndex: null, purposePart: null, originDomain: null, entity: null, from: null, to: null };
  return certificatePage(db, { businessId: business.id, environment, filter: { status, ...everything }, page: 1, perPage });
};

/** Of certificates the newest alone, of deadlines those of live records. */
export const readSteps = async (services: Stores & Events, member: MemberSession) => {
  const db = homeOf(services, member);
  const [[account, domains, live, tests, withdrawnTests, due], endpoints] = await Promise.all([
    together(db, [
      readAccount(services, member),
      listDomains(services, member),
      newest(db, member, "live", null, 1),
      newest(db, member, "sandbox", null, 1),
      newest(db, member, "sandbox", "revoked", lookedAt),
      listDeadlines(services, member, "live"),
    ]),
    listWebhooks(services, member),
  ]);
  return {
    account,
    domains,
    live: live.certificates,
    tests: tests.certificates,
    withdrawnTests: withdrawnTests.certificates,
    endpoints,
    due,
  };
};

/** Whether the business has a live certificate. */
export const isLive = async (services: Stores, member: MemberSession): Promise<boolean> =>
  (await newest(homeOf(services, member), member, "live", null, 1)).total > 0;
