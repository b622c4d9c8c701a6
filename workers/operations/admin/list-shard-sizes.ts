// Sizes of all databases, part of GET /v1/admin/stuck.
import { getShardBytes, maxShardBytes } from "../../../storage/health.ts";
import type { Stores } from "../dependencies.ts";

/** Lists the size and capacity of every shard, in bytes. A full shard accepts no more certificates. */
export const listShardSizes = (services: Stores) =>
  Promise.all(services.shards.all().map(async ([shard, db]) => ({ home: shard, bytes: await getShardBytes(db), maxBytes: maxShardBytes })));
