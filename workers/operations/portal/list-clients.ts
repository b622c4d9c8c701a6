// Implements GET /v1/business/portal/clients.
import type { MemberSession } from "../../../core/access/session.ts";
import { listClientsByBusiness, type Client } from "../../../storage/clients.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

export const listClients = (services: Stores, member: MemberSession): Lookup<readonly Client[]> =>
  listClientsByBusiness(getBusinessDatabase(services, member), member.business.id);
