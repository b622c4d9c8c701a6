// Measures series of requests, alternating each with its baseline. Reports the rate and the runtime's CPU time relative to the baseline in
// the same round.
import { setTimeout as pause } from "node:timers/promises";
import { median } from "./timing-comparison.ts";
import { runLoad, percentile, type LoadResult, type Request } from "./load.ts";
import { getCpuMs } from "./runtime-process.ts";

export interface Slices {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

export interface Series {
  readonly name: string;
  readonly floor: string | null;
  readonly url: string;
  /** Returns the CPU time that the measured processes have used so far, in milliseconds. */
  readonly getCpuMs: () => number;
  /** Returns the n-th request, or null to end the slice. */
  readonly next: (n: number) => Request | null;
  readonly measured: LoadResult[];
  /** The runtime's CPU time in milliseconds. Each value belongs to the entry of `measured` at the same index. */
  readonly cpu: number[];
  /** CPU time in milliseconds of the background work after each slice (audit chains, ledger, counters), until the runtime is idle. */
  readonly afterward: number[];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const summarize = (series: Series): { rps: number; p50: number; p99: number; cpu: number; afterward: number; faults: number } => {
  const requests = sum(series.measured.map((part) => part.requests));
  const latencies = series.measured.flatMap((part) => part.latencies).sort((a, b) => a - b);
  const good = sum(series.measured.map((part) => (part.statuses[200] ?? 0) + (part.statuses[201] ?? 0)));
  return {
    rps: requests / sum(series.measured.map((part) => part.seconds)),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpu: sum(series.cpu) / requests,
    afterward: sum(series.afterward) / requests,
    faults: requests - good,
  };
};

export const createSeries = (
  name: string,
  floor: string | null,
  where: { readonly url: string; readonly pid: string } | Pick<Series, "url" | "getCpuMs">,
  next: Series["next"],
): Series => {
  const cpuOf = "pid" in where ? () => getCpuMs(where.pid) : where.getCpuMs;
  return { name, floor, url: where.url, getCpuMs: cpuOf, next, measured: [], cpu: [], afterward: [] };
};

/** Waits until the runtime has finished background work, which it batches for two seconds. */
const waitUntilIdle = async (series: Series): Promise<void> => {
  await pause(2_200);
  for (let before = series.getCpuMs(), attempt = 0; attempt < 40; attempt += 1) {
    await pause(250);
    const now = series.getCpuMs();
    if (now - before <= 20) return;
    before = now;
  }
};

const runSlice = async (series: Series, from: number, { seconds, connections }: Slices): Promise<void> => {
  const before = series.getCpuMs();
  series.measured.push(await runLoad(series.url, (n) => series.next(from + n), { seconds, connections }));
  const answered = series.getCpuMs();
  series.cpu.push(answered - before);
  await waitUntilIdle(series);
  series.afterward.push(series.getCpuMs() - answered);
};

/**
 * Returns the rate and CPU per request relative to the same round's baseline, each as the median over all rounds. A temporary slowdown of a
 * shared machine affects both series and therefore cancels out.
 */
const relativeToFloor = (ownSeries: Series, floor: Series): { rate: number; cpu: number } => {
  const rate = ({ requests, seconds }: LoadResult): number => requests / seconds;
  const cpu = (series: Series, round: number): number => (series.cpu[round] as number) / (series.measured[round] as LoadResult).requests;
  const rounds = ownSeries.measured.map((measured, round) => ({
    rate: rate(measured) / rate(floor.measured[round] as LoadResult),
    cpu: cpu(ownSeries, round) / cpu(floor, round),
  }));
  return { rate: median(rounds.map((round) => round.rate)), cpu: median(rounds.map((round) => round.cpu)) };
};

export const printRounds = (all: readonly Series[]): void => {
  console.log(`\n${"".padEnd(38)}     req/s      p50      p99   CPU/req   afterward   of floor (rate, CPU)   not 2xx`);
  for (const series of all) {
    const summary = summarize(series);
    const floor = all.find(({ name }) => name === series.floor);
    const beside = floor === undefined ? null : relativeToFloor(series, floor);
    const ratio = beside === null ? "" : `${beside.rate.toFixed(2)}, ${beside.cpu.toFixed(2)}x`;
    console.log(
      `${series.name.padEnd(38)} ${summary.rps.toFixed(0).padStart(9)} ${summary.p50.toFixed(1).padStart(5)} ms ${summary.p99.toFixed(1).padStart(5)} ms ${summary.cpu.toFixed(2).padStart(6)} ms  +${summary.afterward.toFixed(2).padStart(5)} ms    ${ratio.padEnd(20)} ${summary.faults}`,
    );
  }
};

/** In each round, runs one slice of every series in the given order. After each slice, waits until its background work has ended. */
export const runRounds = async (all: readonly Series[], slices: Slices): Promise<void> => {
  for (const series of all) await runLoad(series.url, (n) => series.next(500_000 + n), { seconds: 3, connections: slices.connections }); // warms up code paths and caches
  let from = 0;
  for (let round = 1; round <= slices.rounds; round += 1) {
    for (const series of all) {
      process.stderr.write(`\r  round ${round}/${slices.rounds}  ${series.name.padEnd(40)}`);
      await runSlice(series, from, slices);
      from += 20_000;
    }
  }
  process.stderr.write(`\r${" ".repeat(60)}\r`);
};
