// Lists records from every shard for the operator, even while a shard does not respond.
import type { ShardId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Lists the records of all shards. Logs and skips a shard that fails or does not respond. */
export const listFromEachShard = async <T>(
  services: ReadDependencies,
  list: (db: Database, shard: ShardId) => Promise<readonly T[]>,
): Promise<readonly T[]> => {
  const lists = await Promise.all(
    services.shards.all().map(([shard, db]) => runIsolated(services, `shard ${shard}`, () => list(db, shard))),
  );
  return lists.flatMap((found) => found ?? []);
};
