// Lists the websites of a domain on which a business issued certificates.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { listOriginDomains } from "../../../storage/certificate-list.ts";
import type { Stores } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

/** Lists the hosts of a domain on which the business issued certificates, in alphabetical order, up to 100 from each shard. */
export const listWebsites = async (
  services: Stores,
  { business }: MemberSession,
  environment: Environment,
  domain: string,
): Promise<readonly string[]> => {
  const found = await queryShardsOf(services, business, (db) => listOriginDomains(db, { businessId: business.id, environment, domain }));
  return [...new Set(found.flat())].sort();
};
