// Queries the shards that may hold a person's shares. Shares are in the businesses' shards. An unavailable shard fails the whole request: a
// hidden share is worse than an error. The person's own shard comes first because it knows the others.
import { shardOfId, type ConsumerId, type ShardId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups, type Lookup } from "../../../storage/lookups.ts";
import { listPersonShards } from "../../../storage/people.ts";
import type { Stores } from "../dependencies.ts";

/** Queries the person's own shard, and returns which other shards may hold their shares. */
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
