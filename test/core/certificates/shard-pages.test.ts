// Tests that a planned page either equals the same page of the merged list or is null, which means that all shards must be merged.
import { describe, expect, test } from "vitest";
import type { CertId } from "../../../core/ids.ts";
import { mergePage, planPage, mergeNewestFirst, type ListExtent, type ListRange } from "../../../core/certificates/shard-pages.ts";

interface Row {
  readonly id: CertId;
  readonly issuedAt: number;
}
interface Shard extends ListExtent {
  readonly rows: readonly Row[];
}

/** Builds a shard with certificates that were issued at these times. Their IDs are `cc_<name>-0`, `cc_<name>-1` and so on. */
const buildShard = (name: string, times: readonly number[], period: readonly number[] = times): Shard => ({
  rows: mergeNewestFirst([times.map((issuedAt, at) => ({ id: `cc_${name}-${at}` as CertId, issuedAt }))]),
  total: times.length,
  isTruncated: false,
  newestAt: period.length === 0 ? null : Math.max(...period),
  oldestAt: period.length === 0 ? null : Math.min(...period),
});

/** Reads a page as the service does. Returns null if the page must be merged from all shards. */
const readPage = (shards: readonly Shard[], range: ListRange) => {
  const plan = planPage(shards, range);
  if (plan === null) return null;
  const rows = plan.reads.map(({ extent, start }) => extent.rows.slice(start, start + plan.length));
  return { page: mergePage(plan, rows)?.map(({ id }) => id) ?? null, read: rows.flat().length, shards: plan.reads.length };
};

const mergeAll = (shards: readonly Shard[], { start, length }: ListRange): readonly string[] =>
  mergeNewestFirst(shards.map(({ rows }) => rows))
    .slice(start, start + length)
    .map(({ id }) => id);

/** Lists the ranges whose start and length are at most `max` + 1. */
const listRanges = (max: number): readonly ListRange[] =>
  Array.from({ length: max + 2 }, (_, start) => Array.from({ length: max + 2 }, (__, length) => ({ start, length }))).flat();

/** Lists all ways to put the times 1 to 5 into three shards, or to leave them out. */
const listDistributions = (): readonly (readonly Shard[])[] =>
  Array.from({ length: 4 ** 5 }, (_, code) => {
    const getShardState = (time: number): number => Math.floor(code / 4 ** (time - 1)) % 4;
    return ["0a", "0b", "0c"].map((name, shard) =>
      buildShard(
        name,
        [1, 2, 3, 4, 5].filter((time) => getShardState(time) === shard),
      ),
    );
  });

describe("a page of several shards", () => {
  test("equals the same page of the merged list, for every distribution of five certificates", () => {
    const wrong = listDistributions().flatMap((shards) =>
      listRanges(5).filter((range) => {
        const read = readPage(shards, range);
        return read?.page != null && JSON.stringify(read.page) !== JSON.stringify(mergeAll(shards, range));
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("is read only from the shards that contain it if their periods do not overlap", () => {
    const shards = [buildShard("0a", [1, 2, 3]), buildShard("0b", []), buildShard("0c", [4, 5]), buildShard("0d", [7, 7, 8])];
    for (const range of listRanges(8)) expect(readPage(shards, range)?.page).toEqual(mergeAll(shards, range));
    expect(readPage(shards, { start: 0, length: 3 })).toEqual({ page: ["cc_0d-2", "cc_0d-0", "cc_0d-1"], read: 3, shards: 1 });
    expect(readPage(shards, { start: 6, length: 1 })).toEqual({ page: ["cc_0a-1"], read: 1, shards: 1 });
    expect(readPage(shards, { start: 8, length: 5 })).toEqual({ page: [], read: 0, shards: 0 });
  });

  test("is read from few shards although the periods of others overlap elsewhere", () => {
    const shards = [buildShard("0a", [1, 2, 5]), buildShard("0b", [4, 6, 7])];
    expect(readPage(shards, { start: 0, length: 2 })).toEqual({ page: ["cc_0b-2", "cc_0b-1"], read: 2, shards: 1 });
    expect(readPage(shards, { start: 2, length: 1 })?.page).toBeNull();
  });

  test("is merged if certificates of two shards were issued in the same millisecond at its edge", () => {
    const shards = [buildShard("0a", [1, 2]), buildShard("0b", [2, 3])];
    expect(readPage(shards, { start: 0, length: 2 })?.page).toBeNull();
    expect(readPage(shards, { start: 0, length: 4 })?.page).toEqual(mergeAll(shards, { start: 0, length: 4 }));
  });

  test("uses the period of all certificates of a shard, which can be longer than that of the matching ones", () => {
    const shards = [buildShard("0a", [2], [1, 2, 5]), buildShard("0b", [4, 6], [3, 4, 6])];
    expect(readPage(shards, { start: 0, length: 3 })?.page).toEqual(["cc_0b-1", "cc_0b-0", "cc_0a-0"]);
    expect(readPage(shards, { start: 0, length: 2 })?.page).toBeNull();
  });

  test("is merged if a total is only a lower bound", () => {
    expect(planPage([{ ...buildShard("0a", [1]), isTruncated: true }, buildShard("0b", [2])], { start: 0, length: 1 })).toBeNull();
  });

  test("is merged if a certificate was deleted after the plan was made", () => {
    const shards = [buildShard("0a", [1, 2]), { ...buildShard("0b", [3]), total: 2 }];
    expect(readPage(shards, { start: 0, length: 2 })?.page).toBeNull();
  });
});
