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
 * For each size, prints the runtime's CPU time and the response time per request in milliseconds. Also prints how much CPU time the last
 * size takes compared with the first. The services take turns, so that a temporary slowdown of the machine affects all of them.
 */
export const runQueriesInTurn = async (all: readonly SeededService[], queries: readonly BenchQuery[], rounds: number): Promise<void> => {
  console.log(`\nms of CPU / median ms per request   ${all.map(({ size }) => String(size).padStart(14)).join("")}   last to first (CPU)`);
  for (const [name, query] of queries) {
    const costs = all.map((): number[] => []);
    const waits = all.map((): number[] => []);
    let faults = 0;
    for (let round = 0; round <= rounds; round += 1) {
      for (const [at, one] of all.entries()) {
        process.stderr.write(`\r  round ${round}/${rounds}  ${name}, ${one.size}`.padEnd(60));
        const before = getCpuMs(one.pid);
        const measured = await runLoad(one.url, (n) => query(one, n + 20_000 * round), { seconds: 1, connections: 4 });
        if (round === 0) continue; // ignore the first round, which warms up code paths and caches
        costs[at]?.push((getCpuMs(one.pid) - before) / measured.requests);
        waits[at]?.push(percentile(measured.latencies, 0.5));
        faults += measured.requests - (measured.statuses[200] ?? 0);
      }
    }
    const cost = costs.map(median);
    const cells = cost.map((ms, at) => `${ms.toFixed(2)} / ${median(waits[at] ?? []).toFixed(1)}`.padStart(14)).join("");
    const ratio = ((cost.at(-1) as number) / (cost[0] as number)).toFixed(2);
    process.stderr.write(`\r${" ".repeat(60)}\r`);
    console.log(`${name.padEnd(36)}${cells}   ${ratio}${faults === 0 ? "" : `   ${faults} not 200`}`);
  }
};
