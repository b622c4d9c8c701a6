// Implements POST /v1/admin/shards/{shard}.
import type { ShardId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ShardState } from "../../../core/shards/placement.ts";
import { saveShardState } from "../../../storage/shard-registry.ts";
import type { Stores } from "../dependencies.ts";

/**
 * Opens or closes a shard. A closed shard gets no new accounts, and its accounts issue their next certificates in another shard. Returns
 * `not_found` if the shard has no database.
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
