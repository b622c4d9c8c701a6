// Reads one page of a business's certificates from all of its shards. With several shards, first merges the positions, and then reads only
// the certificates on the page.
import type { BusinessPrincipal } from "../../../core/access/principal.ts";
import { shardOfId, type CertId } from "../../../core/ids.ts";
import {
  findListStart,
  listCertificatePage,
  listCertificatesByIds,
  mergeListStarts,
  type CertificateListQuery,
  type CertificatePage,
} from "../../../storage/certificate-list.ts";
import type { Stores } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

/** Returns the page, newest first, with the total for the filter. */
export const listCertificatePageInShards = async (
  services: Pick<Stores, "shards">,
  business: BusinessPrincipal,
  search: Omit<CertificateListQuery, "businessId">,
): Promise<CertificatePage> => {
  const { shards } = services;
  const list = { businessId: business.id, ...search };
  if (business.otherShards.length === 0) return listCertificatePage(shards.forId(business.id), list);
  const { ids, ...sums } = mergeListStarts(list, await queryShardsOf(services, business, (db) => findListStart(db, list)));
  const found = await Promise.all(
    [...Map.groupBy(ids, (id: CertId) => shardOfId(id))].map(([shard, ofShard]) => listCertificatesByIds(shards.get(shard), ofShard)),
  );
  const byId = new Map(found.flat().map((certificate) => [certificate.id, certificate]));
  return { ...sums, certificates: ids.flatMap((id) => byId.get(id) ?? []) };
};
