// Lists the sizes of all databases, for GET /v1/admin/stuck.
import { getShardBytes, maxShardBytes } from "../../../storage/health.ts";
import type { Stores } from "../dependencies.ts";

/** Lists the size and capacity of every shard, in bytes. A full shard does not accept more certificates. */
export const listShardSizes = (services: Stores) =>
  Promise.all(services.shards.all().map(async ([shard, db]) => ({ home: shard, bytes: await getShardBytes(db), maxBytes: maxShardBytes })));
