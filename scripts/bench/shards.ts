// Measures the CPU time per certificate with 1, 2 and 4 shards. Each shard has one business, and the businesses take turns submitting.
import { getShardId } from "../../core/ids.ts";
import { createDemoWorld, seedDemo } from "../demo-world.ts";
import { capturePolicies, origin, pick, startBenchService, type Bench } from "./measured-service.ts";
import { createSeries, printRounds, runRounds, type Series, type Slices } from "./series.ts";
import { consentRequest } from "./submission.ts";
import { median } from "./timing-comparison.ts";

const shardCounts = [1, 2, 4];

const startWithShards = async (bench: Bench, count: number) => {
  const shards = Array.from({ length: count }, (_, number) => getShardId(number));
  const service = await startBenchService(bench, `shards-${count}`, { extraShards: shards.slice(1) });
  const businesses = await Promise.all(
    shards.map(async (shard) => {
      const db = await service.runtime.database(shard);
      const world = createDemoWorld(bench.vars.ISSUER_KEY as string, shard);
      if (shard !== shards[0]) await seedDemo(db, world, Date.now());
      await capturePolicies(db);
      return world.acme;
    }),
  );
  const series = createSeries(`POST /v1/consent, ${count} shards`, null, service, (n) => consentRequest(pick(businesses, n), origin, n));
  return { service, series };
};

/** Returns the CPU time per certificate in each round, including the work after the responses. */
const listCpu = ({ cpu, afterward, measured }: Series): readonly number[] =>
  measured.map(({ requests }, round) => ((cpu[round] as number) + (afterward[round] as number)) / requests);

export const measureShards = async (bench: Bench & { readonly slices: Slices }): Promise<void> => {
  const started = [];
  for (const count of shardCounts) started.push(await startWithShards(bench, count));
  const all = started.map(({ series }) => series);
  await runRounds(all, bench.slices);
  printRounds(all);
  const [one = [], ...others] = all.map(listCpu);
  console.log(`\nshards           CPU for each certificate, with the work that follows, and relative to one shard in the same round`);
  for (const [at, count] of shardCounts.entries()) {
    const ownRates = at === 0 ? one : (others[at - 1] as readonly number[]);
    const ratio = median(ownRates.map((value, round) => value / (one[round] as number)));
    console.log(`  ${count} shards       ${median(ownRates).toFixed(2)} ms, ${ratio.toFixed(2)}x`);
  }
  for (const { service } of started) await service.runtime.dispose();
};
