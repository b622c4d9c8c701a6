import type { MemberSession } from "../../../core/access/session.ts";
import { listDomainsByBusiness, type Domain } from "../../../storage/domains.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

export const listDomains = (services: Stores, member: MemberSession): Lookup<readonly Domain[]> =>
  listDomainsByBusiness(getBusinessDatabase(services, member), member.business.id);
