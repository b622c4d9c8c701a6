// Queries every shard that has certificates of a business: the account's shard, and the shards in which the business issued certificates
// while the account's shard was full or closed. If a shard is unavailable, the whole request fails, because hiding a certificate or
// withdrawal would be worse than an error.
import type { BusinessPrincipal } from "../../core/access/principal.ts";
import { shardOfId, type BusinessId, type ShardId } from "../../core/ids.ts";
import type { Database } from "../../storage/database.ts";
import { listIssuingShards } from "../../storage/issuing-shards.ts";
import type { Stores } from "./dependencies.ts";

const maxConcurrentQueries = 6; // a Worker invocation can have six open connections

/** Lists the shards with certificates of the business, except the account's shard. Makes no query if the deployment has only one shard. */
export const listOtherShards = async ({ shards }: Pick<Stores, "shards">, businessId: BusinessId): Promise<readonly ShardId[]> =>
  shards.all().length === 1 ? [] : (await listIssuingShards(shards.forId(businessId), businessId)).map(({ shard }) => shard);

/** Queries the given shards, at most six at a time. Returns their results in the same order. */
export const queryShardsInGroups = async <T>(
  { shards }: Pick<Stores, "shards">,
  ids: readonly ShardId[],
  query: (db: Database, shard: ShardId) => PromiseLike<T>,
): Promise<readonly T[]> => {
  const results: T[] = [];
  for (let at = 0; at < ids.length; at += maxConcurrentQueries)
    results.push(...(await Promise.all(ids.slice(at, at + maxConcurrentQueries).map((shard) => query(shards.get(shard), shard)))));
  return results;
};

/** Queries the account's shard and the given other shards of a business. The first result is from the account's shard. */
export const queryShardsOf = async <T>(
  services: Pick<Stores, "shards">,
  { id, otherShards }: Pick<BusinessPrincipal, "id" | "otherShards">,
  query: (db: Database, shard: ShardId) => PromiseLike<T>,
): Promise<readonly [T, ...(readonly T[])]> =>
  (await queryShardsInGroups(services, [shardOfId(id), ...otherShards], query)) as readonly [T, ...(readonly T[])];

/** Like `queryShardsOf`, but also looks up the business's other shards while it queries the account's shard. */
export const queryIssuingShards = async <T>(
  services: Pick<Stores, "shards">,
  businessId: BusinessId,
  query: (db: Database, shard: ShardId) => PromiseLike<T>,
): Promise<readonly [T, ...(readonly T[])]> => {
  const ownResult = query(services.shards.forId(businessId), shardOfId(businessId));
  const [found, others] = await Promise.all([ownResult, listOtherShards(services, businessId)]);
  return [found, ...(others.length === 0 ? [] : await queryShardsInGroups(services, others, query))];
};
