// Loads the data for the portal's settings page.
import type { MemberSession } from "../../../core/access/session.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import type { Domain } from "../../../storage/domains.ts";
import { combineLookups, type Lookup } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { getAccount } from "./get-account.ts";
import { listDomains } from "./list-domains.ts";

/** Reads the account and the domains of the member's business in one database call. */
export const getSettings = (
  services: Stores,
  member: MemberSession,
): Lookup<{ readonly account: BusinessAccount; readonly domains: readonly Domain[] }> =>
  combineLookups(getBusinessDatabase(services, member), [getAccount(services, member), listDomains(services, member)]).map(
    ([account, domains]) => ({ account, domains }),
  );
