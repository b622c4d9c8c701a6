// What the first steps of a business are read from, as it stands now.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import type { ListedCertificate } from "../../../core/certificates/published.ts";
import { certificatePage } from "../../../storage/certificate-list.ts";
import type { Database } from "../../../storage/database.ts";
import { together } from "../../../storage/lookups.ts";
import type { Events, Stores } from "../../services.ts";
import { listWebhooks, type EndpointState } from "../webhooks/endpoints.ts";
import { homeOf } from "./commit-act.ts";
import { listDeadlines, type DeadlinePage } from "./deadlines.ts";
import { listDomains, type Domain } from "./domains.ts";
import { readAccount, type Account } from "./profile.ts";

/** Of test certificates that were withdrawn, the newest: one that was acknowledged is enough. */
const lookedAt = 25;

const newest = (db: Database, { business }: MemberSession, environment: Environment, status: CertificateStatus | null, perPage: number) => {
  const everything = { emailIndex: null, phoneIndex: null, purposePart: null, originDomain: null, entity: null, from: null, to: null };
  return certificatePage(db, { businessId: business.id, environment, filter: { status, ...everything }, page: 1, perPage });
};

export interface StepRecords {
  readonly account: Account;
  readonly domains: readonly Domain[];
  /** The newest alone. */
  readonly live: readonly ListedCertificate[];
  readonly tests: readonly ListedCertificate[];
  readonly withdrawnTests: readonly ListedCertificate[];
  readonly endpoints: readonly EndpointState[];
  /** Of live records. */
  readonly due: DeadlinePage;
}

export const readSteps = async (services: Stores & Events, member: MemberSession): Promise<StepRecords> => {
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
