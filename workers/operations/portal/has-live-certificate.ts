// Reads the newest certificates of a business.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { listCertificatePage } from "../../../storage/certificate-list.ts";
import type { Database } from "../../../storage/database.ts";
import type { Stores } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

/** Lists the newest certificates of one environment in one shard, and the exact total. If `status` is null, includes every status. */
export const lookUpNewestCertificates = (
  db: Database,
  { business }: MemberSession,
  environment: Environment,
  status: CertificateStatus | null,
  perPage: number,
) => {
  const noFilter = { emailIndex: null, phoneIndex: null, purposePart: null, originDomain: null, entity: null, from: null, to: null };
  return listCertificatePage(db, { businessId: business.id, environment, filter: { status, ...noFilter }, page: 1, perPage });
};

export const hasLiveCertificate = async (services: Stores, member: MemberSession): Promise<boolean> =>
  (await queryShardsOf(services, member.business, (db) => lookUpNewestCertificates(db, member, "live", null, 1))).some(
    ({ total }) => total > 0,
  );
