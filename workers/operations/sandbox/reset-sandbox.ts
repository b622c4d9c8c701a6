// Implements POST /v1/sandbox/reset. Revokes the active test shares on behalf of their test people, and resets the clock.
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
  /** True if active test shares may remain, because one call revokes at most 2,000. In that case, the clock is not reset yet. */
  readonly hasMore: boolean;
}

/** Revokes one batch and returns its size. If the batch is not full, it is the last one, and its transaction also resets the clock. */
const revokeTestShareBatch = async (
  services: WriteDependencies,
  db: Database,
  tester: SandboxActor,
  requestId: string,
): Promise<Result<number, "storage_unavailable">> => {
  const { id: businessId, chain } = tester.business;
  // If one of the shares ends before it is revoked, the next attempt loads the shares that are still active.
  return retryOnConflict([isOutdatedShare], async () => {
    const ids = await listActiveTestShareIds(db, businessId, batchSize);
    const writtenAt = services.clock();
    const now = writtenAt + (await getSandboxClock(db, businessId)).offsetMs;
    const shares = await listSharesByIds(db, ids, writtenAt);
    const revocations = shares.map((share) => revokeShare(share, { business: chain, person: null }, tester.actor, now));
    const [first] = revocations;
    const statements = [
      ...(first === undefined ? [] : [updateTestSharesRevoked(db, ids, first, requestId)]),
      ...(ids.length < batchSize ? [deleteSandboxClock(db, businessId)] : []),
    ];
    const domainEvents = revocations.map(({ domainEvent }) => withRecordedTime(domainEvent, writtenAt));
    await commit(db, services, statements, domainEvents);
    return ok(ids.length);
  });
};

/**
 * Sweeps expired test shares, and then revokes up to 2,000 active ones. Returns the number of revoked shares, or `storage_unavailable` if
 * concurrent changes made every attempt fail.
 */
export const resetSandbox = async (
  services: SandboxWriteDependencies,
  tester: SandboxActor,
  requestId: string,
): Promise<Result<ResetResult, "storage_unavailable">> => {
  const { id: businessId } = tester.business;
  const db = services.shards.forId(businessId);
  await sweepSandbox(services, db, businessId); // a share that is past its end date must expire, not be revoked
  let ended = 0;
  for (let done = 0; done < maxBatches; done += 1) {
    const revoked = await revokeTestShareBatch(services, db, tester, requestId);
    if (!revoked.ok) return revoked;
    ended += revoked.value;
    if (revoked.value < batchSize) break;
  }
  return ok({ ended, hasMore: ended === batchSize * maxBatches });
};
