// The state and measured size of each shard. Shard `00` stores all rows, so that one query is enough to choose the shard for a new account.
import { firstShard, type ShardId } from "../core/ids.ts";
import type { ShardFill, ShardState } from "../core/shards/placement.ts";
import type { Instant } from "../core/time.ts";
import { shardRegistry } from "./schema.ts";
import type { Shards } from "./shards.ts";

/** Returns all shards that have a database. A shard without a row counts as open and empty. */
export const readShardFills = async (shards: Shards): Promise<readonly ShardFill[]> => {
  const { shard: id, state, bytes } = shardRegistry;
  const rows = await shards.get(firstShard).select({ shard: id, state, bytes }).from(shardRegistry);
  const registered = new Map(rows.map((row) => [row.shard, row]));
  return shards.all().map(([shard]) => registered.get(shard) ?? { shard, state: "open", bytes: 0 });
};

/** Like `readShardFills`, for choosing a shard. With a single shard, makes no query. */
export const listShardFills = async (shards: Shards): Promise<readonly ShardFill[]> => {
  const [[only] = [firstShard], ...others] = shards.all();
  return others.length === 0 ? [{ shard: only, state: "open", bytes: 0 }] : readShardFills(shards);
};

export const saveShardBytes = (shards: Shards, shard: ShardId, bytes: number, now: Instant) =>
  shards
    .get(firstShard)
    .insert(shardRegistry)
    .values({ shard, bytes, measuredAt: now })
    .onConflictDoUpdate({ target: shardRegistry.shard, set: { bytes, measuredAt: now } });

export const saveShardState = (shards: Shards, shard: ShardId, state: ShardState) =>
  shards.get(firstShard).insert(shardRegistry).values({ shard, state }).onConflictDoUpdate({ target: shardRegistry.shard, set: { state } });
