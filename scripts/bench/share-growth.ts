// Measures the share list of a business with different numbers of shares (`--seed`). Half of the shares have expired.
import { runQueriesInTurn, withKey, type SeededService, type BenchQuery } from "./growth-queries.ts";
import { insertApiKeys, startBenchService, type Bench } from "./measured-service.ts";
import { copyShares, grantOne, createPerson } from "./shares.ts";

/** Returns the ID of the nth copy, which the list accepts as `starting_after`. */
const copyShareId = (first: string, n: number): string => `${first.slice(0, 20)}${String(n).padStart(10, "0")}`;

export const measureShareGrowth = async (bench: Bench & { readonly sizes: readonly number[]; readonly rounds: number }): Promise<void> => {
  const all: SeededService[] = [];
  const firsts = new Map<number, string>();
  for (const size of bench.sizes) {
    const service = await startBenchService(bench, `share-growth-${size}`);
    const first = await grantOne(service, await createPerson(service, 0), bench.world.acme);
    const ofEverySecond = (expired: string, active: string): string => `CASE n.i % 2 WHEN 0 THEN ${expired} ELSE ${active} END`;
    await copyShares(service.db, first, size - 1, {
      state: ofEverySecond("'expired'", "'active'"),
      key_sealed: ofEverySecond("NULL", "s.key_sealed"),
      next_due_at: ofEverySecond("NULL", "s.next_due_at"),
    });
    firsts.set(size, first);
    all.push({ ...service, size, keys: await insertApiKeys(service.db, bench.world.acme, 200) });
  }
  const behind = ({ size }: SeededService, n: number): string =>
    `/v1/shares?limit=50&starting_after=${copyShareId(firsts.get(size) as string, n)}`;
  const queries: readonly BenchQuery[] = [
    ["first page", withKey("/v1/shares?limit=50")],
    ["page in the middle", withKey((grown) => behind(grown, Math.floor(grown.size / 2)))],
    ["last page", withKey((grown) => behind(grown, 50))],
    ["active, first page", withKey("/v1/shares?limit=50&status=active")],
    ["active, page in the middle", withKey((grown) => `${behind(grown, Math.floor(grown.size / 2))}&status=active`)],
    ["expired, first page", withKey("/v1/shares?limit=50&status=expired")],
    ["revoked, of which there are none", withKey("/v1/shares?limit=50&status=revoked")],
  ];
  await runQueriesInTurn(all, queries, bench.rounds);
  for (const { runtime } of all) await runtime.dispose();
};
