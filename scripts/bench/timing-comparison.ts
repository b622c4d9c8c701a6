// Tests whether two kinds of requests can be distinguished by their response times.
import { percentile } from "./load.ts";

const ascending = (times: readonly number[]): readonly number[] => [...times].sort((a, b) => a - b);
export const median = (times: readonly number[]): number => percentile(ascending(times), 0.5);
export const p95 = (times: readonly number[]): number => percentile(ascending(times), 0.95);

/**
 * Returns the probability that a time of the first kind is longer than one of the second kind. Ties count as half. 0.5 means
 * indistinguishable.
 */
const areaUnderCurve = (first: readonly number[], second: readonly number[]): number => {
  let longer = 0;
  for (const a of first) for (const b of second) longer += a > b ? 1 : a === b ? 0.5 : 0;
  return longer / (first.length * second.length);
};

/** Returns the milliseconds until the response is complete. Throws if the status is unexpected. */
export const measureTime = async (sendRequest: () => Promise<Response>, expectedStatus: number): Promise<number> => {
  const startedAt = performance.now();
  const response = await sendRequest();
  await response.arrayBuffer();
  const took = performance.now() - startedAt;
  if (response.status !== expectedStatus) throw new Error(`bench: returned ${response.status} instead of ${expectedStatus}`);
  return took;
};

/** Returns the items in random order, so that other load affects both kinds equally. */
export const shuffle = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

export const describeDistinguishability = (name: string, hit: readonly number[], miss: readonly number[]): string =>
  `${name.padEnd(9)} hit ${median(hit).toFixed(2)} ms, miss ${median(miss).toFixed(2)} ms (medians of ${hit.length} each); AUC ${areaUnderCurve(hit, miss).toFixed(3)}`;
