// Loads the views of the certificate list that the portal offers.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { countCertificatesByStatus } from "../../../storage/certificate-list.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { listViewsByBusiness } from "../../../storage/saved-views.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Returns the number of certificates by status and the saved views by name, in one database round trip. */
export const getCertificateListViews = async (services: Stores, member: MemberSession, environment: Environment) => {
  const db = getBusinessDatabase(services, member);
  const businessId = member.business.id;
  const [counts, saved] = await combineLookups(db, [
    countCertificatesByStatus(db, { businessId, environment }),
    listViewsByBusiness(db, businessId),
  ]);
  return { counts, saved };
};
