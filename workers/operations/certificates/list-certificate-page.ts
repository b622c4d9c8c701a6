// Reads one page of a business's certificates from all of its shards. With several shards, first reads their totals, and then only the
// shards that contain the page.
import type { BusinessPrincipal } from "../../../core/access/principal.ts";
import { mergePage, planPage, mergeNewestFirst, type ListExtent, type ListRange } from "../../../core/certificates/shard-pages.ts";
import type { CertificateSummary } from "../../../core/certificates/published-certificate.ts";
import { shardOfId, type ShardId } from "../../../core/ids.ts";
import {
  findListExtent,
  getPageRange,
  listCertificatePage,
  listCertificatePositions,
  listCertificateRange,
  listCertificatesByIds,
  sumExtents,
  type CertificateListQuery,
  type CertificatePage,
} from "../../../storage/certificate-list.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { Stores } from "../dependencies.ts";
import { queryShardsInGroups, queryShardsOf } from "../query-issuing-shards.ts";

interface ShardExtent extends ListExtent {
  readonly shard: ShardId;
  /** The shard's newest certificates that match the query, or null if they have not been read yet. */
  readonly newest: readonly CertificateSummary[] | null;
}

/**
 * Reads the totals of all shards. For the first page, the same round trip also reads the certificates in the newest shard. A search by
 * email address or phone number usually finds few certificates, so it reads those of every shard.
 */
const findExtents = (
  services: Pick<Stores, "shards">,
  business: BusinessPrincipal,
  list: CertificateListQuery,
  range: ListRange,
): Promise<readonly ShardExtent[]> => {
  const hasAddress = list.filter.emailIndex !== null || list.filter.phoneIndex !== null;
  return queryShardsOf(services, business, async (db, shard) => {
    const extent = findListExtent(db, list);
    if (range.start > 0 || (shard !== business.otherShards.at(-1) && !hasAddress)) return { ...(await extent), shard, newest: null };
    const [found, newest] = await combineLookups(db, [extent, listCertificateRange(db, list, range)]);
    return { ...found, shard, newest };
  });
};

/** Reads the page from the shards that contain it. Returns null if the totals and issuing periods do not show which shards contain it. */
const readPlannedPage = async (
  services: Pick<Stores, "shards">,
  list: CertificateListQuery,
  range: ListRange,
  extents: readonly ShardExtent[],
): Promise<readonly CertificateSummary[] | null> => {
  const plan = planPage(extents, range);
  if (plan === null) return null;
  const starts = new Map(plan.reads.flatMap(({ extent, start }) => (extent.newest === null ? [[extent.shard, start]] : [])));
  const rows = await queryShardsInGroups(services, [...starts.keys()], (db, shard) =>
    listCertificateRange(db, list, { start: starts.get(shard) ?? 0, length: plan.length }),
  );
  const known = plan.reads.flatMap(({ extent }) => (extent.newest === null ? [] : [extent.newest]));
  return mergePage(plan, [...known, ...rows]);
};

/**
 * Reads the positions of the certificates in all shards, up to the end of the page, and merges them. Then reads the certificates on the
 * page.
 */
const readMergedPage = async (
  services: Pick<Stores, "shards">,
  business: BusinessPrincipal,
  list: CertificateListQuery,
  { start, length }: ListRange,
): Promise<readonly CertificateSummary[]> => {
  const positions = await queryShardsOf(services, business, (db) =>
    listCertificatePositions(db, list, { start: 0, length: start + length }),
  );
  const ids = mergeNewestFirst(positions)
    .slice(start, start + length)
    .map(({ id }) => id);
  const byShard = Map.groupBy(ids, (id) => shardOfId(id));
  const found = await queryShardsInGroups(services, [...byShard.keys()], (db, shard) =>
    listCertificatesByIds(db, byShard.get(shard) ?? []),
  );
  const byId = new Map(found.flat().map((certificate) => [certificate.id, certificate]));
  return ids.flatMap((id) => byId.get(id) ?? []);
};

/** Returns the page, newest first, with the total for the filter. */
export const listCertificatePageInShards = async (
  services: Pick<Stores, "shards">,
  business: BusinessPrincipal,
  search: Omit<CertificateListQuery, "businessId">,
): Promise<CertificatePage> => {
  const list = { businessId: business.id, ...search };
  if (business.otherShards.length === 0) return listCertificatePage(services.shards.forId(business.id), list);
  const range = getPageRange(list);
  const extents = await findExtents(services, business, list, range);
  const certificates = (await readPlannedPage(services, list, range, extents)) ?? (await readMergedPage(services, business, list, range));
  return { ...sumExtents(extents), certificates };
};
