import { ok, type Result } from "../../../core/result.ts";
import { decideClockMove, type ClockMove } from "../../../core/sandbox/clock.ts";
import { getSandboxClock, updateSandboxClock } from "../../../storage/sandbox-clocks.ts";
import { getClockReading, type SandboxOwner, type ClockReading } from "./get-clock-reading.ts";
import { sweepSandbox, type ClockServices, type SweepResult } from "./sweep-sandbox.ts";

/**
 * Refuses to go back, and further ahead than it may be in all. `draft` remembers where a move under an Idempotency-Key set out from, so
 * that the same move begun again ends where it was to end.
 */
export const advanceSandboxClock = async (
  services: ClockServices,
  tester: SandboxOwner,
  move: ClockMove,
  draft: (text: string) => Promise<string> = async (text) => text,
): Promise<Result<ClockReading & SweepResult, "invalid_request">> => {
  const db = services.shards.forId(tester.business.id);
  const now = services.clock();
  const { offsetMs } = await getSandboxClock(db, tester.business.id);
  const next = decideClockMove(Number(await draft(String(offsetMs))), move, now);
  if (!next.ok) return next;
  await updateSandboxClock(db, tester.business.id, next.value, now).run();
  const swept = await sweepSandbox(services, db, tester.business.id);
  return ok({ ...(await getClockReading(services, tester)), ...swept });
};
