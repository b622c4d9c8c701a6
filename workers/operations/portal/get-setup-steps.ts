// Loads the data for the portal's setup checklist.
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertificateSummary } from "../../../core/certificates/published-certificate.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { PortalDependencies } from "./dependencies.ts";
import { queryShardsInGroups } from "../query-issuing-shards.ts";
import { listWebhooks } from "../webhooks/list-webhooks.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { getAccount } from "./get-account.ts";
import { lookUpNewestCertificates } from "./has-live-certificate.ts";
import { listClients } from "./list-clients.ts";
import { listDomains } from "./list-domains.ts";

/** The number of withdrawn test certificates to read. The setup step is complete if one of these withdrawals is acknowledged. */
const maxWithdrawnTests = 25;

export const getSetupSteps = async (services: PortalDependencies, member: MemberSession) => {
  const { business } = member;
  const lookUpNewest = (db: Database) =>
    combineLookups(db, [
      lookUpNewestCertificates(db, member, "live", null, 1),
      lookUpNewestCertificates(db, member, "sandbox", null, 1),
      lookUpNewestCertificates(db, member, "sandbox", "revoked", maxWithdrawnTests),
    ]);
  const db = getBusinessDatabase(services, member);
  const [[account, domains, clients, own], others, endpoints] = await Promise.all([
    combineLookups(db, [getAccount(services, member), listDomains(services, member), listClients(services, member), lookUpNewest(db)]),
    queryShardsInGroups(services, business.otherShards, lookUpNewest),
    listWebhooks(services, member),
  ]);
  const merge = (list: 0 | 1 | 2): readonly CertificateSummary[] =>
    [own, ...others].flatMap((found) => found[list].certificates).sort((a, b) => b.issuedAt - a.issuedAt);
  return {
    account,
    domains,
    testClient: clients.find(({ environment }) => environment === "sandbox"),
    live: merge(0),
    tests: merge(1),
    withdrawnTests: merge(2),
    endpoints,
  };
};
