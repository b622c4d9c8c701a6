// GET /v1/admin/shards, and the sizes in GET /v1/admin/stuck.
import type { ShardId } from "../../../core/ids.ts";
import { choosePlacement, type ShardState } from "../../../core/shards/placement.ts";
import { getShardBytes } from "../../../storage/health.ts";
import { readShardFills } from "../../../storage/shard-registry.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface ShardStatus {
  readonly shard: ShardId;
  readonly state: ShardState;
  /** The current size. While the shard does not respond, the size that was last recorded. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** True if the next new account will be created in this shard. */
  readonly isNext: boolean;
  /** False if the shard's database fails or does not respond. */
  readonly isAvailable: boolean;
}

/** Lists the state, size and size limit of every shard. Throws an outage only if the first shard, which has the states, does not respond. */
export const listShards = async (services: ReadDependencies): Promise<readonly ShardStatus[]> => {
  const { shards, config } = services;
  const measure = shards.all().map(([shard, db]) => runIsolated(services, `shard ${shard}`, () => getShardBytes(db)));
  const [fills, sizes] = await Promise.all([readShardFills(shards), Promise.all(measure)]);
  const next = choosePlacement(fills, config.maxShardBytes);
  return fills.map(({ shard, state, bytes }, at) => ({
    shard,
    state,
    bytes: sizes[at] ?? bytes,
    maxBytes: config.maxShardBytes,
    isNext: shard === next,
    isAvailable: sizes[at] !== undefined,
  }));
};
