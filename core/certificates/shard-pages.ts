// Finds one page of a list whose certificates are in several shards. A business issues certificates in one shard at a time, so a page is
// usually in one or two of them. The plan for a page assumes that the shards' periods (from the oldest to the newest certificate) do not
// overlap. They can overlap, for example because a journal stores a certificate late or because clocks differ. If they overlap within the
// page, `mergePage` returns null.
import { shardOfId, type CertId } from "../ids.ts";
import type { Instant } from "../time.ts";

/** A part of a list, counted from the newest certificate. */
export interface ListRange {
  readonly start: number;
  readonly length: number;
}

/** The number of matching certificates in one shard, and the period of all the business's certificates there. */
export interface ListExtent {
  readonly total: number;
  /** True if more than `total` certificates may match. */
  readonly isTruncated: boolean;
  /** When the business's newest and oldest certificates in the shard were issued, whether or not they match. */
  readonly newestAt: Instant | null;
  readonly oldestAt: Instant | null;
}

interface Period {
  readonly newestAt: Instant;
  readonly oldestAt: Instant;
}

export interface PagePlan<Extent> {
  /** The shards to read, newest first, and the position in each at which to start. The position is 0 in all shards but the first. */
  readonly reads: readonly { readonly extent: Extent; readonly start: number }[];
  /** The number of certificates on the page. */
  readonly length: number;
  /**
   * The periods of the shards whose certificates are all newer than those on the page, and of the shards whose certificates are all older.
   */
  readonly newer: readonly Period[];
  readonly older: readonly Period[];
}

const hasPeriod = <Extent extends ListExtent>(extent: Extent): extent is Extent & Period =>
  extent.newestAt !== null && extent.oldestAt !== null;

/**
 * Chooses the shards that contain the page, on the assumption that the shards' periods do not overlap. Returns null if the totals do not
 * show where the page is.
 */
export const planPage = <Extent extends ListExtent>(
  extents: readonly Extent[],
  { start, length }: ListRange,
): PagePlan<Extent & Period> | null => {
  const matching = extents.filter(({ total }) => total > 0);
  const known = matching.filter(hasPeriod);
  if (known.length < matching.length || extents.some(({ isTruncated }) => isTruncated)) return null;
  let counted = 0;
  const positioned = known
    .toSorted((a, b) => b.newestAt - a.newestAt)
    .map((extent) => {
      const from = counted;
      counted += extent.total;
      return { extent, from, to: counted };
    });
  const end = Math.min(start + length, counted);
  return {
    reads: positioned
      .filter(({ from, to }) => to > start && from < end)
      .map(({ extent, from }) => ({ extent, start: Math.max(0, start - from) })),
    length: Math.max(0, end - start),
    newer: positioned.filter(({ to }) => to <= start).map(({ extent }) => extent),
    older: positioned.filter(({ from }) => from >= end).map(({ extent }) => extent),
  };
};

export interface CertificatePosition {
  readonly id: CertId;
  readonly issuedAt: Instant;
}

/** Returns 0 for certificates in the same shard, so that sorting keeps their order. */
const compareShards = (a: CertId, b: CertId): number => {
  const [shard, other] = [shardOfId(a), shardOfId(b)];
  if (shard === other) return 0;
  return shard < other ? 1 : -1;
};

/** Merges the lists of several shards, newest first. Certificates from the same millisecond are sorted by shard. */
export const mergeNewestFirst = <Row extends CertificatePosition>(lists: readonly (readonly Row[])[]): readonly Row[] =>
  lists.flat().sort((a, b) => b.issuedAt - a.issuedAt || compareShards(a.id, b.id));

/**
 * Merges the certificates that were read for a plan: up to one page from each shard, beginning at the shard's `start`. Returns null if the
 * periods of the shards overlap where the page begins or ends, or if certificates were deleted after the plan was made.
 */
export const mergePage = <Row extends CertificatePosition>(
  { reads, length, newer, older }: PagePlan<Period>,
  rows: readonly (readonly Row[])[],
): readonly Row[] | null => {
  if (length === 0) return [];
  const page = mergeNewestFirst(rows).slice(0, length);
  const [first, last] = [page[0], page.at(-1)];
  if (first === undefined || last === undefined || page.length < length) return null;
  const [begun, ...others] = reads;
  const isFirst =
    newer.every(({ oldestAt }) => oldestAt > first.issuedAt) &&
    (begun?.start === 0 || others.every(({ extent }) => extent.newestAt < first.issuedAt));
  return isFirst && older.every(({ newestAt }) => newestAt < last.issuedAt) ? page : null;
};
