// Queries the shards that may contain a person's shares. Each share is in the shard of its business. First queries the person's shard,
// which lists the others. If a shard is unavailable, the whole request fails, because hiding a share would be worse than an error.
import { shardOfId, type ConsumerId, type ShardId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups, type Lookup } from "../../../storage/lookups.ts";
import { listPersonShards } from "../../../storage/people.ts";
import type { Stores } from "../dependencies.ts";

/** Queries the person's shard and returns the other shards that may contain the person's shares. */
export const queryOwnShard = async <T>(
  services: Stores,
  id: ConsumerId,
  query: (ownDb: Database) => Lookup<T>,
): Promise<{ readonly found: T; readonly others: readonly ShardId[] }> => {
  const ownDb = services.shards.forId(id);
  const [shards, found] = await combineLookups(ownDb, [listPersonShards(ownDb, id), query(ownDb)]);
  return { found, others: shards.filter((shard) => shard !== shardOfId(id)) };
};

/** Queries shards in parallel. Throws if one of them is unavailable. */
export const queryShards = <T>(services: Stores, shards: readonly ShardId[], query: (db: Database) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(shards.map((shard) => query(services.shards.get(shard))));
