// Implements POST /v1/sandbox/clock. Moves a sandbox's clock forward.
import { ok, type Result } from "../../../core/result.ts";
import { decideClockMove, type ClockMove } from "../../../core/sandbox/clock.ts";
import { batch } from "../../../storage/database.ts";
import { getSandboxClock, updateSandboxClock } from "../../../storage/sandbox-clocks.ts";
import type { ClaimedRequest } from "../access/idempotency.ts";
import { getClockReading, type SandboxOwner, type ClockReading } from "./get-clock-reading.ts";
import type { SandboxWriteDependencies } from "./dependencies.ts";
import { sweepSandbox, type SweepResult } from "./sweep-sandbox.ts";

/**
 * Moves the clock and sweeps up to 1,000 test shares whose end or expiry warning is now due. Returns `invalid_request` if the move is
 * backward or beyond the limit. A repeated request with the same idempotency key (`claim`) does not move the clock again.
 */
export const advanceSandboxClock = async (
  services: SandboxWriteDependencies,
  tester: SandboxOwner,
  move: ClockMove,
  claim?: Pick<ClaimedRequest, "isStepDone" | "toStepStatements">,
): Promise<Result<ClockReading & SweepResult, "invalid_request">> => {
  const db = services.shards.forId(tester.business.id);
  const now = services.clock();
  for (let isMoved = false; !isMoved; ) {
    const { offsetMs } = await getSandboxClock(db, tester.business.id);
    // Checked only after the clock is read. If another request has taken over the claim and moved the clock before the read, this check
    // notices it.
    if ((await claim?.isStepDone()) === true) break;
    const next = decideClockMove(offsetMs, move, now);
    if (!next.ok) return next;
    // A move by a number of seconds starts from the offset that was read. If another request moves the clock in the meantime, read it
    // again.
    const fromMs = "advanceSeconds" in move ? offsetMs : undefined;
    const update = updateSandboxClock(db, tester.business.id, next.value, now, fromMs);
    const [moved] = await batch(db, [update, ...(claim?.toStepStatements() ?? [])]);
    isMoved = fromMs === undefined || (moved as D1Result).meta.changes > 0;
  }
  const swept = await sweepSandbox(services, db, tester.business.id);
  return ok({ ...(await getClockReading(services, tester)), ...swept });
};
