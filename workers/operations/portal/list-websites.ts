// Lists the websites whose forms issued certificates of a business.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { listOriginDomainsByBusiness } from "../../../storage/certificate-list.ts";
import type { Stores } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

/** Lists the hosts in alphabetical order. */
export const listWebsites = async (services: Stores, { business }: MemberSession, environment: Environment): Promise<readonly string[]> => {
  const found = await queryShardsOf(services, business, (db) => listOriginDomainsByBusiness(db, { businessId: business.id, environment }));
  return [...new Set(found.flat())].sort();
};
