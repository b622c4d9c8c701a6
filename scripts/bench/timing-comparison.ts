// Whether two kinds of request can be told apart by how long they take.
import { percentile } from "./load.ts";

const ascending = (times: readonly number[]): readonly number[] => [...times].sort((a, b) => a - b);
export const median = (times: readonly number[]): number => percentile(ascending(times), 0.5);
export const p95 = (times: readonly number[]): number => percentile(ascending(times), 0.95);

/** How often a time of the first kind is the longer one, ties counted half: 0.5 tells nothing apart. */
const areaUnderCurve = (first: readonly number[], second: readonly number[]): number => {
  let longer = 0;
  for (const a of first) for (const b of second) longer += a > b ? 1 : a === b ? 0.5 : 0;
  return longer / (first.length * second.length);
};

/** Milliseconds until the whole answer is there; anything but the wanted status ends the run. */
export const measureTime = async (ask: () => Promise<Response>, wanted: number): Promise<number> => {
  const began = performance.now();
  const response = await ask();
  await response.arrayBuffer();
  const took = performance.now() - began;
  if (response.status !== wanted) throw new Error(`bench: answered ${response.status} instead of ${wanted}`);
  return took;
};

/** In random order, so that whatever else the machine does falls on both kinds alike. */
export const shuffle = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

export const describeDistinguishability = (name: string, hit: readonly number[], miss: readonly number[]): string =>
  `${name.padEnd(9)} hit ${median(hit).toFixed(2)} ms, miss ${median(miss).toFixed(2)} ms (medians of ${hit.length} each); AUC ${areaUnderCurve(hit, miss).toFixed(3)}`;
