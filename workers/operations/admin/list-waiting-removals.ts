// Lists the removal requests that an operator needs to process, for GET /v1/admin/removals.
import { listWaitingRemovals } from "../../../storage/removals.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { listFromEachShard } from "./list-from-each-shard.ts";

const maxListedPerShard = 200;

/**
 * Lists unfinished removals and completed ones that are due for a check, up to 200 per shard that responds, each with its shard's ID. The
 * list contains no personal data.
 */
export const listWaitingRemovalsByShard = (services: ReadDependencies) =>
  listFromEachShard(services, async (db, shard) =>
    (await listWaitingRemovals(db, services.clock(), maxListedPerShard)).map((removal) => ({ ...removal, shard })),
  );
