// Lists outbox work that is not making progress, for GET /v1/admin/stuck.
import { listStuckWork, type StuckWork } from "../../../storage/stuck-work.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { listFromEachShard } from "./list-from-each-shard.ts";

/** Lists stuck work in all shards that respond, each item with its shard's ID. */
export const listStuckWorkByShard = (services: ReadDependencies): Promise<readonly (StuckWork & { readonly shard: string })[]> =>
  listFromEachShard(services, async (db, shard) => (await listStuckWork(db, services.clock())).map((stuck) => ({ ...stuck, shard })));
