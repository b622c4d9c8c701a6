// Counts the business's shares for the tabs of the portal's list of shares.
import type { BusinessScope } from "../../../core/access/principal.ts";
import { countSharesByStatus } from "../../../storage/shares.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Limits how many rows the page reads. */
export const maxCountedShares = 100;

/** Counts shares by status, up to `maxCountedShares` of each. */
export const countShares = ({ shards, clock }: ReadDependencies, { business, environment }: BusinessScope) =>
  countSharesByStatus(shards.forId(business.id), { businessId: business.id, environment }, clock(), maxCountedShares);
