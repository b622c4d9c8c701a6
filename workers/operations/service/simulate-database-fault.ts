// Implements POST /dev/faults.
import type { ShardId } from "../../../core/ids.ts";
import type { FaultMode } from "../../../core/simulated-fault.ts";
import type { Instant } from "../../../core/time.ts";
import { simulateFault } from "../../../storage/simulated-faults.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Makes a shard's database fail for `forMs` milliseconds. Returns the time at which the fault ends, or null if there is no such shard. */
export const simulateDatabaseFault = (
  services: ReadDependencies,
  { shard, mode, forMs }: { readonly shard: ShardId; readonly mode: FaultMode; readonly forMs: number },
): Instant | null => {
  if (!services.shards.all().some(([known]) => known === shard)) return null;
  const until = Date.now() + forMs; // simulated faults use the real clock, because development settings can shift `services.clock`
  simulateFault(shard, mode, until);
  return until;
};
