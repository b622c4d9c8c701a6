// The clock of a business's sandbox: what it says, and moving it forward. What becomes due by a move happens before it is answered.
import type { Actor } from "../../../core/actor.ts";
import type { Principal, Reader } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { ok, type Result } from "../../../core/result.ts";
import { decideMove, type ClockMove } from "../../../core/sandbox/clock.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database } from "../../../storage/database.ts";
import { moveClock, sandboxClock } from "../../../storage/sandbox-clocks.ts";
import { dueInSandbox, maxSweptAwaited, sweepShares } from "../../../storage/share-sweep.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";

type ClockServices = Runtime & Stores & Events & Schedules;
export type Tester = Pick<Principal, "business">;

/** Who acts in a sandbox: a test key, or a member in the portal. */
export interface ActingTester extends Reader {
  readonly actor: Actor;
}

export interface ClockReading {
  /** What the sandbox takes for the time. */
  readonly now: Instant;
  readonly offsetMs: number;
  /** Null while it goes with the time. */
  readonly movedAt: Instant | null;
}

export const readClock = async (services: Runtime & Stores, { business }: Tester): Promise<ClockReading> => {
  const clock = await sandboxClock(services.homes.of(business.id), business.id);
  return { ...clock, now: services.clock() + clock.offsetMs };
};

export interface Swept {
  readonly swept: number;
  /** More is due than one call works through; the next one, or the next minute, goes on. */
  readonly hasMore: boolean;
}

/** What is due in the sandbox, a thousand shares at most. */
export const sweepSandbox = async (services: ClockServices, db: Database, businessId: BusinessId): Promise<Swept> => {
  const now = services.clock();
  const due = await dueInSandbox(db, businessId, now);
  if (due.length === 0) return { swept: 0, hasMore: false };
  await sweepShares(db, "sandbox", due, now);
  await services.businessLog(businessId, "sandbox").drain();
  services.scheduleFollowUp();
  return { swept: due.length, hasMore: due.length === maxSweptAwaited };
};

/**
 * Refuses to go back, and further ahead than it may be in all. `draft` remembers where a move under an Idempotency-Key set out from, so
 * that the same move begun again ends where it was to end.
 */
export const advanceClock = async (
  services: ClockServices,
  tester: Tester,
  move: ClockMove,
  draft: (text: string) => Promise<string> = async (text) => text,
): Promise<Result<ClockReading & Swept, "invalid_request">> => {
  const db = services.homes.of(tester.business.id);
  const now = services.clock();
  const { offsetMs } = await sandboxClock(db, tester.business.id);
  const next = decideMove(Number(await draft(String(offsetMs))), move, now);
  if (!next.ok) return next;
  await moveClock(db, tester.business.id, next.value, now).run();
  const swept = await sweepSandbox(services, db, tester.business.id);
  return ok({ ...(await readClock(services, tester)), ...swept });
};
