// Looks up withdrawal codes and links, which are stored in the shard of the certificate for which they were requested.
import { shardOfId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import type { Stores } from "../dependencies.ts";
import { listOtherShards, queryShardsInGroups } from "../query-issuing-shards.ts";
import type { LocatedRecord } from "./locate-record.ts";

/**
 * Searches the certificate's shard and, if nothing is found there, the business's other shards. A code or link is valid for all
 * certificates with the same address from the same business and environment, which can be in several shards. If nothing is found and one of
 * the other shards fails, rethrows its error.
 */
export const findInShards = async <T>(
  services: Pick<Stores, "shards">,
  { db, record }: LocatedRecord,
  find: (db: Database) => Promise<T | null>,
): Promise<T | null> => {
  const found = await find(db);
  if (found !== null || !record.hasOtherShards) return found;
  const { id: certId, businessId } = record.certificate;
  const shards = [shardOfId(businessId), ...(await listOtherShards(services, businessId))].filter((shard) => shard !== shardOfId(certId));
  const searches = (await queryShardsInGroups(services, shards, (other) => Promise.allSettled([find(other)]))).flat();
  for (const search of searches) if (search.status === "fulfilled" && search.value !== null) return search.value;
  for (const search of searches) if (search.status === "rejected") throw search.reason;
  return null;
};
