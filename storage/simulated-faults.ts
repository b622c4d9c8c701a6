// Makes the database of a shard fail on request. Only development deployments use it (shards.ts), so that anyone can see how the service
// behaves during an outage.
import type { ShardId } from "../core/ids.ts";
import { slowAnswerMs, type FaultMode } from "../core/simulated-fault.ts";
import type { Instant } from "../core/time.ts";

/** The faults of this isolate. A local runtime runs the Worker and its Durable Objects in one isolate. */
const faults = new Map<ShardId, { readonly mode: FaultMode; readonly until: Instant }>();

/** Makes all calls to the shard's database fail until the given time. A time that is not in the future ends the fault. */
export const simulateFault = (shard: ShardId, mode: FaultMode, until: Instant): void => {
  if (until > Date.now()) faults.set(shard, { mode, until });
  else faults.delete(shard); // Otherwise, the entry would take effect again if the clock were set back.
};

/** Sends a call to the shard's database, unless a fault is simulated there. */
export const callWithSimulatedFaults = async <T>(shard: ShardId, call: () => Promise<T>): Promise<T> => {
  const fault = faults.get(shard);
  if (fault === undefined || Date.now() >= fault.until) return call();
  if (fault.mode === "hang") return new Promise<never>(() => {});
  if (fault.mode === "slow") await new Promise((resolve) => setTimeout(resolve, slowAnswerMs));
  if (fault.mode !== "reset") {
    const answer = await call();
    if (fault.mode === "slow") return answer;
  }
  throw new Error("D1_ERROR: Network connection lost (simulated)");
};
