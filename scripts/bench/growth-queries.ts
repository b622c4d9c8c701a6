// Compares what the same queries cost in services with different numbers of rows or shards.
import { median } from "./timing-comparison.ts";
import { runLoad, percentile, type Request } from "./load.ts";
import { getCpuMs } from "./runtime-process.ts";
import { bearerHeader, type Service } from "./measured-service.ts";

/** A service with seeded data. `size` is its number of rows or shards. */
export interface SeededService extends Service {
  readonly size: number;
  readonly keys: readonly string[];
}

export type BenchQuery = readonly [name: string, (grown: SeededService, n: number) => Request];

/** Spreads requests over many keys, so that each key stays far below its limit. */
export const withKey =
  (path: string | ((grown: SeededService) => string)): BenchQuery[1] =>
  (grown, n) => ({
    method: "GET",
    path: typeof path === "string" ? path : path(grown),
    headers: bearerHeader(grown.keys, n),
  });

/**
 * Prints what the queries cost at each size: the runtime's CPU time per request, and the median and the 95th percentile of the response
 * times in milliseconds. Also prints the CPU time and the 95th percentile of the last size relative to the first. The services take turns,
 * so that a temporary slowdown of the machine affects all of them.
 */
export const runQueriesInTurn = async (all: readonly SeededService[], queries: readonly BenchQuery[], rounds: number): Promise<void> => {
  console.log(
    `\nms per request: CPU / p50 / p95     ${all.map(({ size }) => String(size).padStart(26)).join("")}   last to first: CPU, p95`,
  );
  for (const [name, query] of queries) {
    const slices = all.map(() => ({ cpu: [] as number[], p50: [] as number[], p95: [] as number[] }));
    let faults = 0;
    for (let round = 0; round <= rounds; round += 1) {
      for (const [at, one] of all.entries()) {
        process.stderr.write(`\r  round ${round}/${rounds}  ${name}, ${one.size}`.padEnd(60));
        const before = getCpuMs(one.pid);
        const measured = await runLoad(one.url, (n) => query(one, n + 20_000 * round), { seconds: 1, connections: 4 });
        if (round === 0) continue; // ignore the first round, which warms up code paths and caches
        slices[at]?.cpu.push((getCpuMs(one.pid) - before) / measured.requests);
        slices[at]?.p50.push(percentile(measured.latencies, 0.5));
        slices[at]?.p95.push(percentile(measured.latencies, 0.95));
        faults += measured.requests - (measured.statuses[200] ?? 0);
      }
    }
    const figures = slices.map(({ cpu, p50, p95 }) => [median(cpu), median(p50), median(p95)] as const);
    const cells = figures
      .map((ms) =>
        ms
          .map((one) => one.toFixed(2))
          .join(" / ")
          .padStart(26),
      )
      .join("");
    const [first, last] = [figures[0], figures.at(-1)] as [(typeof figures)[number], (typeof figures)[number]];
    const ratios = `${(last[0] / first[0]).toFixed(2)}, ${(last[2] / first[2]).toFixed(2)}`;
    process.stderr.write(`\r${" ".repeat(60)}\r`);
    console.log(`${name.padEnd(36)}${cells}   ${ratios}${faults === 0 ? "" : `   ${faults} not 200`}`);
  }
};
