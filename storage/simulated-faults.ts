// Simulates failures of a shard's database, to show how the service behaves during an outage. Only development uses this (shards.ts).
import type { ShardId } from "../core/ids.ts";
import { slowAnswerMs, type FaultMode } from "../core/simulated-fault.ts";
import type { Instant } from "../core/time.ts";

/** The simulated faults. They also affect Durable Objects, because a local runtime runs them in the same isolate as the Worker. */
const faults = new Map<ShardId, { readonly mode: FaultMode; readonly until: Instant }>();

/** Simulates a fault of the shard's database until the given time. To end the fault, pass a time that is not in the future. */
export const simulateFault = (shard: ShardId, mode: FaultMode, until: Instant): void => {
  if (until > Date.now()) faults.set(shard, { mode, until });
  else faults.delete(shard); // otherwise, the fault would return if the clock is set back
};

/** Calls the shard's database and applies the simulated fault, if there is one. */
export const callWithSimulatedFaults = async <T>(shard: ShardId, call: () => Promise<T>): Promise<T> => {
  const fault = faults.get(shard);
  if (fault === undefined || Date.now() >= fault.until) return call();
  if (fault.mode === "hang") return new Promise<never>(() => {});
  if (fault.mode === "slow") await new Promise((resolve) => setTimeout(resolve, slowAnswerMs));
  if (fault.mode !== "reset") {
    const result = await call();
    if (fault.mode === "slow") return result;
  }
  throw new Error("D1_ERROR: Network connection lost (simulated)");
};
