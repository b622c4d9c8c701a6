// The sandbox as at first: every active test share is ended, as its person would end it, and the clock goes with the time again.
import { withRecordedTime } from "../../../core/domain-events.ts";
import { ok, type Result } from "../../../core/result.ts";
import { revokeShare } from "../../../core/shares/revocation.ts";
import { commit, retryOnConflict } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { getSandboxClock, deleteSandboxClock } from "../../../storage/sandbox-clocks.ts";
import { isOutdatedShare, updateTestSharesRevoked } from "../../../storage/share-changes.ts";
import { listActiveTestShareIds, listSharesByIds } from "../../../storage/shares.ts";
import type { WriteDependencies } from "../dependencies.ts";
import type { SandboxWriteDependencies } from "./dependencies.ts";
import type { SandboxActor } from "./get-clock-reading.ts";
import { sweepSandbox } from "./sweep-sandbox.ts";

const batchSize = 500;
const maxBatches = 4;

export interface ResetResult {
  readonly ended: number;
  /** There are more test shares than one call ends; the clock is set back with the last of them. */
  readonly hasMore: boolean;
}

/** One batch; how many shares it ended. The one that finds less than it may take sets the clock back with them. */
const revokeTestShareBatch = async (
  services: WriteDependencies,
  db: Database,
  tester: SandboxActor,
  requestId: string,
): Promise<Result<number, "storage_unavailable">> => {
  const { id: businessId, chain } = tester.business;
  // Where one of them ended meanwhile, the next reading is without it.
  return retryOnConflict([isOutdatedShare], async () => {
    const ids = await listActiveTestShareIds(db, businessId, batchSize);
    const written = services.clock();
    const time = written + (await getSandboxClock(db, businessId)).offsetMs;
    const shares = await listSharesByIds(db, ids, written);
    const revocations = shares.map((share) => revokeShare(share, { business: chain, person: null }, tester.actor, time));
    const [first] = revocations;
    const rows = [
      ...(first === undefined ? [] : [updateTestSharesRevoked(db, ids, first, requestId)]),
      ...(ids.length < batchSize ? [deleteSandboxClock(db, businessId)] : []),
    ];
    const facts = revocations.map(({ domainEvent }) => withRecordedTime(domainEvent, written));
    await commit(db, services, rows, facts);
    return ok(ids.length);
  });
};

export const resetSandbox = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  requestId: string,
): Promise<Result<ResetResult, "storage_unavailable">> => {
  const { id: businessId } = tester.business;
  const db = services.shards.forId(businessId);
  await sweepSandbox(services, db, businessId); // what has expired by the clock has expired, and is not revoked
  let ended = 0;
  for (let done = 0; done < maxBatches; done += 1) {
    const some = await revokeTestShareBatch(services, db, tester, requestId);
    if (!some.ok) return some;
    ended += some.value;
    if (some.value < batchSize) break;
  }
  return ok({ ended, hasMore: ended === batchSize * maxBatches });
};
