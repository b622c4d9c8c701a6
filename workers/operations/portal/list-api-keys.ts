// Implements GET /v1/business/portal/keys.
import type { MemberSession } from "../../../core/access/session.ts";
import { listKeysByBusiness, type ApiKey } from "../../../storage/api-keys.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Lists the business's active API keys and up to 100 revoked ones. The result does not contain the keys themselves. */
export const listApiKeys = (services: Stores, member: MemberSession): Lookup<readonly ApiKey[]> =>
  listKeysByBusiness(getBusinessDatabase(services, member), member.business.id);
