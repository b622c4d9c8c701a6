import type { Person } from "../../../core/access/principal.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups, type Lookup } from "../../../storage/lookups.ts";
import { listSharesByPerson, type SharePage } from "../../../storage/shares.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { queryOwnShard, queryShards } from "./query-shards.ts";

const maxListedShares = 500;

const getStatusRank = ({ status }: Share): number => (status === "active" ? 0 : 1);

/** Of several homes: active ones first, then newest first. */
export const mergeSharePages = (pages: readonly SharePage[]): SharePage => {
  const shares = pages.flatMap((page) => page.shares).sort((a, b) => getStatusRank(a) - getStatusRank(b) || b.createdAt - a.createdAt);
  return { shares: shares.slice(0, maxListedShares), hasMore: shares.length > maxListedShares || pages.some(({ hasMore }) => hasMore) };
};

/** With what else the same page asks of the person's own home. */
export const loadSharesWith = async <T>(
  services: ReadDependencies,
  { id }: Person,
  more: (own: Database) => Lookup<T>,
): Promise<readonly [SharePage, T]> => {
  const now = services.clock();
  const ask = (db: Database) => listSharesByPerson(db, id, now);
  const { found, others } = await queryOwnShard(services, id, (own) => combineLookups(own, [ask(own), more(own)]));
  const [here, rest] = found;
  return [mergeSharePages([here, ...(await queryShards(services, others, ask))]), rest];
};

export const listOwnShares = async (services: ReadDependencies, person: Person): Promise<SharePage> =>
  (await loadSharesWith(services, person, (own) => combineLookups(own, [])))[0];
