// Implements GET /v1/me/shares. Lists the person's shares from all shards.
import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups, type Lookup } from "../../../storage/lookups.ts";
import { listSharesByPerson, type SharePage } from "../../../storage/shares.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { queryOwnShard, queryShards } from "./query-shards.ts";

const maxListedShares = 500;

const getStatusRank = ({ status }: Share): number => (status === "active" ? 0 : 1);

/** Merges pages from several shards into at most 500 shares: active shares first, newest first within each group. */
export const mergeSharePages = (pages: readonly SharePage[]): SharePage => {
  const shares = pages.flatMap((page) => page.shares).sort((a, b) => getStatusRank(a) - getStatusRank(b) || b.createdAt - a.createdAt);
  return { shares: shares.slice(0, maxListedShares), hasMore: shares.length > maxListedShares || pages.some(({ hasMore }) => hasMore) };
};

/** Loads the shares. Runs `extraLookup` in the same round trip to the person's shard. */
export const loadSharesWith = async <T>(
  services: ReadDependencies,
  { id }: Person,
  extraLookup: (ownDb: Database) => Lookup<T>,
): Promise<readonly [SharePage, T]> => {
  const now = services.clock();
  const listShares = (db: Database) => listSharesByPerson(db, id, now);
  const { found, others } = await queryOwnShard(services, id, (ownDb) => combineLookups(ownDb, [listShares(ownDb), extraLookup(ownDb)]));
  const [ownPage, extra] = found;
  return [mergeSharePages([ownPage, ...(await queryShards(services, others, listShares))]), extra];
};

/** Lists at most 500 shares: active shares first, newest first within each group. Throws if a shard is unavailable. */
export const listOwnShares = async (services: ReadDependencies, person: Person): Promise<SharePage> =>
  (await loadSharesWith(services, person, (ownDb) => combineLookups(ownDb, [])))[0];

/**
 * Lists at most 500 of the person's shares with one business, in the same order as `listOwnShares`. Reads only the business's shard, which
 * contains all of them.
 */
export const listOwnSharesWithBusiness = async (
  services: ReadDependencies,
  { id }: Pick<Person, "id">,
  businessId: BusinessId,
): Promise<readonly Share[]> => (await listSharesByPerson(services.shards.forId(businessId), id, services.clock(), businessId)).shares;
