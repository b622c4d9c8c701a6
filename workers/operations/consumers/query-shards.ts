// A person's shares lie in the homes of the businesses. Each home that may hold some is asked; one that does not answer fails the whole
// request, because a share that is hidden is worse than none shown. The own home is asked first and once: it knows the others.
import { shardOfId, type ConsumerId, type ShardId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups, type Lookup } from "../../../storage/lookups.ts";
import { listPersonShards } from "../../../storage/people.ts";
import type { Stores } from "../dependencies.ts";

/** What is asked of the person's own home, and in which others they may have shares. */
export const queryOwnShard = async <T>(
  services: Stores,
  id: ConsumerId,
  ask: (own: Database) => Lookup<T>,
): Promise<{ readonly found: T; readonly others: readonly ShardId[] }> => {
  const own = services.shards.forId(id);
  const [homes, found] = await combineLookups(own, [listPersonShards(own, id), ask(own)]);
  return { found, others: homes.filter((home) => home !== shardOfId(id)) };
};

export const queryShards = <T>(services: Stores, homes: readonly ShardId[], ask: (db: Database) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(homes.map((home) => ask(services.shards.get(home))));
