// Loads the data for the portal's setup checklist.
import type { MemberSession } from "../../../core/access/session.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { PortalDependencies } from "./dependencies.ts";
import { listWebhooks } from "../webhooks/list-webhooks.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { getAccount } from "./get-account.ts";
import { listNewestCertificates } from "./has-live-certificate.ts";
import { listClients } from "./list-clients.ts";
import { listDomains } from "./list-domains.ts";

/** The maximum number of withdrawn test certificates to check. A single acknowledged withdrawal completes the setup step. */
const maxWithdrawnTests = 25;

/** Reads the account, domains, clients, endpoints, newest live and test certificates, and withdrawn test certificates. */
export const getSetupSteps = async (services: PortalDependencies, member: MemberSession) => {
  const db = getBusinessDatabase(services, member);
  const [[account, domains, clients, live, tests, withdrawnTests], endpoints] = await Promise.all([
    combineLookups(db, [
      getAccount(services, member),
      listDomains(services, member),
      listClients(services, member),
      listNewestCertificates(db, member, "live", null, 1),
      listNewestCertificates(db, member, "sandbox", null, 1),
      listNewestCertificates(db, member, "sandbox", "revoked", maxWithdrawnTests),
    ]),
    listWebhooks(services, member),
  ]);
  return {
    account,
    domains,
    testClient: clients.find(({ environment }) => environment === "sandbox"),
    live: live.certificates,
    tests: tests.certificates,
    withdrawnTests: withdrawnTests.certificates,
    endpoints,
  };
};
