// Lists the removal requests that need work by an operator, for GET /v1/admin/removals.
import { listWaitingRemovals } from "../../../storage/removals.ts";
import type { ReadDependencies } from "../dependencies.ts";

const maxListedPerShard = 200;

/**
 * Lists unfinished removals and completed ones that are due for a check, up to 200 per shard, each with its shard's ID. The list contains
 * no personal data.
 */
export const listWaitingRemovalsByShard = (services: ReadDependencies) =>
  Promise.all(
    services.shards.all().map(async ([shard, db]) => {
      const waiting = await listWaitingRemovals(db, services.clock(), maxListedPerShard);
      return waiting.map((removal) => ({ ...removal, shard }));
    }),
  ).then((lists) => lists.flat());
