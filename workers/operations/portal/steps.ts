// What the first steps of a business are read from, as it stands now.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { certificatePage } from "../../../storage/certificate-list.ts";
import type { Database } from "../../../storage/database.ts";
import { together } from "../../../storage/lookups.ts";
import type { Events, Stores } from "../../services.ts";
import { listWebhooks } from "../webhooks/endpoints.ts";
import { homeOf } from "./commit-act.ts";
import { listDeadlines } from "./overview.ts";
import { listDomains } from "./domains.ts";
import { readAccount } from "./profile.ts";

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
