// Implements GET /v1/admin/shards, and provides the shard sizes for GET /v1/admin/stuck.
import type { ShardId } from "../../../core/ids.ts";
import { choosePlacement, type ShardState } from "../../../core/shards/placement.ts";
import { getShardBytes } from "../../../storage/health.ts";
import { readShardFills } from "../../../storage/shard-registry.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface ShardStatus {
  readonly shard: ShardId;
  /** Null if the first shard, which stores the states, does not respond. */
  readonly state: ShardState | null;
  /** The current size. If the shard does not respond, the last recorded size, or 0 if that is unknown too. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** True if the next new account will be created in this shard. */
  readonly isNext: boolean;
  /** False if the shard's database fails or does not respond. */
  readonly isAvailable: boolean;
}

/** Lists the state, size and size limit of every shard, even while some of them do not respond. */
export const listShards = async (services: ReadDependencies): Promise<readonly ShardStatus[]> => {
  const { shards, config } = services;
  const measure = shards.all().map(([shard, db]) => runIsolated(services, `shard ${shard}`, () => getShardBytes(db)));
  const [fills, sizes] = await Promise.all([runIsolated(services, "shard registry", () => readShardFills(shards)), Promise.all(measure)]);
  const next = fills === undefined ? null : choosePlacement(fills, config.maxShardBytes);
  return shards.all().map(([shard], at) => ({
    shard,
    state: fills?.[at]?.state ?? null,
    bytes: sizes[at] ?? fills?.[at]?.bytes ?? 0,
    maxBytes: config.maxShardBytes,
    isNext: shard === next,
    isAvailable: sizes[at] !== undefined,
  }));
};
