// GET /v1/admin/shards, and the sizes in GET /v1/admin/stuck.
import type { ShardId } from "../../../core/ids.ts";
import { choosePlacement, type ShardState } from "../../../core/shards/placement.ts";
import { getShardBytes } from "../../../storage/health.ts";
import { readShardFills } from "../../../storage/shard-registry.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface ShardStatus {
  readonly shard: ShardId;
  readonly state: ShardState;
  readonly bytes: number;
  readonly maxBytes: number;
  /** True if the next new account will be created in this shard. */
  readonly isNext: boolean;
}

/** Lists the state, current size and size limit of every shard. */
export const listShards = async (services: ReadDependencies): Promise<readonly ShardStatus[]> => {
  const { shards, config } = services;
  const [fills, sizes] = await Promise.all([readShardFills(shards), Promise.all(shards.all().map(async ([, db]) => getShardBytes(db)))]);
  const next = choosePlacement(fills, config.maxShardBytes);
  return fills.map(({ shard, state }, at) => ({
    shard,
    state,
    bytes: sizes[at] as number,
    maxBytes: config.maxShardBytes,
    isNext: shard === next,
  }));
};
