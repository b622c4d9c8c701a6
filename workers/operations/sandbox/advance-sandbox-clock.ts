// Implements POST /v1/sandbox/clock. Moves a sandbox's clock forward.
import { ok, type Result } from "../../../core/result.ts";
import { decideClockMove, type ClockMove } from "../../../core/sandbox/clock.ts";
import { getSandboxClock, updateSandboxClock } from "../../../storage/sandbox-clocks.ts";
import { getClockReading, type SandboxOwner, type ClockReading } from "./get-clock-reading.ts";
import type { SandboxWriteDependencies } from "./dependencies.ts";
import { sweepSandbox, type SweepResult } from "./sweep-sandbox.ts";

/**
 * Moves the clock and sweeps up to 1,000 test shares whose end or expiry warning is now due. Returns `invalid_request` if the move is
 * backward or beyond the limit. `saveDraft` saves the starting offset under the idempotency key, or returns the offset that an earlier
 * request saved, so that a repeated request moves the clock to the same time.
 */
export const advanceSandboxClock = async (
  services: SandboxWriteDependencies,
  tester: SandboxOwner,
  move: ClockMove,
  saveDraft: (text: string) => Promise<string> = async (text) => text,
): Promise<Result<ClockReading & SweepResult, "invalid_request">> => {
  const db = services.shards.forId(tester.business.id);
  const now = services.clock();
  for (;;) {
    const { offsetMs } = await getSandboxClock(db, tester.business.id);
    const startMs = Number(await saveDraft(String(offsetMs)));
    const next = decideClockMove(startMs, move, now);
    if (!next.ok) return next;
    // A number of seconds counts from the offset that was read. If another request moves the clock in the meantime, read it again.
    const fromMs = "advanceSeconds" in move && startMs === offsetMs ? offsetMs : undefined;
    const { meta } = await updateSandboxClock(db, tester.business.id, next.value, now, fromMs).run();
    if (fromMs === undefined || meta.changes > 0) break;
  }
  const swept = await sweepSandbox(services, db, tester.business.id);
  return ok({ ...(await getClockReading(services, tester)), ...swept });
};
