// Loads the status counts and the saved views for the portal's certificate list.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { countCertificatesByStatus } from "../../../storage/certificate-list.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { listViewsByBusiness } from "../../../storage/saved-views.ts";
import type { Stores } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

/** Returns the number of certificates by status, and the saved views, sorted by name. Makes one database round trip per shard. */
export const getCertificateListViews = async (services: Stores, member: MemberSession, environment: Environment) => {
  const businessId = member.business.id;
  const found = await queryShardsOf(services, member.business, (db) =>
    combineLookups(db, [countCertificatesByStatus(db, { businessId, environment }), listViewsByBusiness(db, businessId)]),
  );
  const sum = (status: CertificateStatus): number => found.reduce((total, [counts]) => total + counts[status], 0);
  const [[, saved]] = found; // the first result is from the account's own shard, which stores the views
  return { counts: { active: sum("active"), revoked: sum("revoked") }, saved };
};
