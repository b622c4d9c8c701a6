// The sandbox as at first: every active test share is ended, as its person would end it, and the clock goes with the time again.
import { writtenAt } from "../../../core/facts.ts";
import { ok, type Result } from "../../../core/result.ts";
import { revokeShare } from "../../../core/shares/end.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { sandboxClock, setClockBack } from "../../../storage/sandbox-clocks.ts";
import { isOutdatedShare, updateTestSharesRevoked } from "../../../storage/share-changes.ts";
import { activeTestShareIds, sharesByIds } from "../../../storage/shares.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";
import { sweepSandbox, type ActingTester } from "./clock.ts";

const perBatch = 500;
const maxBatches = 4;

export interface ResetOutcome {
  readonly ended: number;
  /** There are more test shares than one call ends; the clock is set back with the last of them. */
  readonly hasMore: boolean;
}

/** One batch; how many shares it ended. The one that finds less than it may take sets the clock back with them. */
const endSome = async (
  services: Runtime & Stores & Schedules,
  db: Database,
  tester: ActingTester,
  requestId: string,
): Promise<Result<number, "storage_unavailable">> => {
  const { id: businessId, chain } = tester.business;
  // Where one of them ended meanwhile, the next reading is without it.
  return retrying([isOutdatedShare], async () => {
    const ids = await activeTestShareIds(db, businessId, perBatch);
    const written = services.clock();
    const time = written + (await sandboxClock(db, businessId)).offsetMs;
    const shares = await sharesByIds(db, ids, written);
    const revocations = shares.map((share) => revokeShare(share, { business: chain, person: null }, tester.actor, time));
    const [first] = revocations;
    const rows = [
      ...(first === undefined ? [] : [updateTestSharesRevoked(db, ids, first, requestId)]),
      ...(ids.length < perBatch ? [setClockBack(db, businessId)] : []),
    ];
    const facts = revocations.map(({ fact }) => writtenAt(fact, written));
    await commit(db, services, rows, facts);
    return ok(ids.length);
  });
};

export const resetSandbox = async (
  services: Runtime & Stores & Events & Schedules,
  tester: ActingTester,
  requestId: string,
): Promise<Result<ResetOutcome, "storage_unavailable">> => {
  const { id: businessId } = tester.business;
  const db = services.homes.of(businessId);
  await sweepSandbox(services, db, businessId); // what has expired by the clock has expired, and is not revoked
  let ended = 0;
  for (let done = 0; done < maxBatches; done += 1) {
    const some = await endSome(services, db, tester, requestId);
    if (!some.ok) return some;
    ended += some.value;
    if (some.value < perBatch) break;
  }
  return ok({ ended, hasMore: ended === perBatch * maxBatches });
};
