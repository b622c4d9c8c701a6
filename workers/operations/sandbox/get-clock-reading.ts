// Implements GET /v1/sandbox/clock. Also defines the types for callers of sandbox operations.
import type { Principal, BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { Instant } from "../../../core/time.ts";
import { getSandboxClock } from "../../../storage/sandbox-clocks.ts";
import type { ReadDependencies } from "../dependencies.ts";

export type SandboxOwner = Pick<Principal, "business">;

/** A caller of sandbox operations: the holder of a test key, or a member in the portal. */
export interface SandboxActor extends BusinessScope {
  readonly actor: Actor;
}

export interface ClockReading {
  /** The current time in the sandbox. */
  readonly now: Instant;
  readonly offsetMs: number;
  /** When the clock was last moved; null if it was never moved or has been reset. */
  readonly movedAt: Instant | null;
}

export const getClockReading = async (services: ReadDependencies, { business }: SandboxOwner): Promise<ClockReading> => {
  const clock = await getSandboxClock(services.shards.forId(business.id), business.id);
  return { ...clock, now: services.clock() + clock.offsetMs };
};
