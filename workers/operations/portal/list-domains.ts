// Implements GET /v1/business/portal/domains.
import type { MemberSession } from "../../../core/access/session.ts";
import { listDomainsByBusiness, type Domain } from "../../../storage/domains.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Lists the business's domains: pending, verified and lapsed. */
export const listDomains = (services: Stores, member: MemberSession): Lookup<readonly Domain[]> =>
  listDomainsByBusiness(getBusinessDatabase(services, member), member.business.id);
