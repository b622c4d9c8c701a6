// Reads the newest certificates of a business.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { listCertificatePage } from "../../../storage/certificate-list.ts";
import type { Database } from "../../../storage/database.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Lists the newest certificates in an environment, in any status if `status` is null, with the exact total. */
export const listNewestCertificates = (
  db: Database,
  { business }: MemberSession,
  environment: Environment,
  status: CertificateStatus | null,
  perPage: number,
) => {
  const noFilter = { emailIndex: null, phoneIndex: null, purposePart: null, originDomain: null, entity: null, from: null, to: null };
  return listCertificatePage(db, { businessId: business.id, environment, filter: { status, ...noFilter }, page: 1, perPage });
};

/** Returns whether the business has a live certificate. */
export const hasLiveCertificate = async (services: Stores, member: MemberSession): Promise<boolean> =>
  (await listNewestCertificates(getBusinessDatabase(services, member), member, "live", null, 1)).total > 0;
