// Implements GET /v1/shares. Lists the shares that a business has received.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { ShareId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { ShareStatus } from "../../../core/shares/share.ts";
import { listSharesByOwner, type SharePage } from "../../../storage/shares.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface ShareListQuery {
  readonly status: ShareStatus | null;
  readonly limit: number;
  /** The last share on the previous page; null for the first page. */
  readonly startingAfter: ShareId | null;
}

/** Lists shares, newest first. Returns `invalid_request` if `startingAfter` is not one of the business's shares. */
export const listShares = async (
  services: ReadDependencies,
  { business, environment }: BusinessScope,
  query: ShareListQuery,
): Promise<Result<SharePage, "invalid_request">> => {
  const db = services.shards.forId(business.id);
  const page = await listSharesByOwner(db, { businessId: business.id, environment }, query, services.clock());
  return page === null ? refuse("invalid_request", "starting_after: must be the ID of one of your shares.") : ok(page);
};
