// POST /v1/admin/shards/{shard}.
import type { ShardId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ShardState } from "../../../core/shards/placement.ts";
import { saveShardState } from "../../../storage/shard-registry.ts";
import type { Stores } from "../dependencies.ts";

/**
 * Opens or closes a shard. New accounts are not created in a closed shard, and its accounts issue their next certificates into another
 * shard. Returns `not_found` if no database is bound for the shard.
 */
export const updateShardState = async (
  { shards }: Stores,
  shard: ShardId,
  state: ShardState,
): Promise<Result<{ readonly shard: ShardId; readonly state: ShardState }, "not_found">> => {
  if (!shards.all().some(([bound]) => bound === shard)) return refuse("not_found");
  await saveShardState(shards, shard, state).run();
  return ok({ shard, state });
};
