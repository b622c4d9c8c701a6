// Implements GET /v1/business/portal.
import type { MemberSession } from "../../../core/access/session.ts";
import { findBusinessAccount, type BusinessAccount } from "../../../storage/business-profiles.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

export const getAccount = (services: Stores, member: MemberSession): Lookup<BusinessAccount> =>
  findBusinessAccount(getBusinessDatabase(services, member), member.business.id).map((account) => account as BusinessAccount);
