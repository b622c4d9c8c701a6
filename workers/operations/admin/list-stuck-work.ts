// Lists outbox work that is not making progress, for GET /v1/admin/stuck.
import { listStuckWork, type StuckWork } from "../../../storage/stuck-work.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Lists stuck work in all shards, with the shard's ID. */
export const listStuckWorkByShard = (services: ReadDependencies): Promise<readonly (StuckWork & { readonly shard: string })[]> =>
  Promise.all(
    services.shards.all().map(async ([shard, db]) => (await listStuckWork(db, services.clock())).map((stuck) => ({ ...stuck, shard }))),
  ).then((lists) => lists.flat());
