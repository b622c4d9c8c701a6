// Erases a person's data in one shard: revokes their shares there and deletes everything that identifies them.
import type { Actor } from "../../../core/actor.ts";
import type { AuditChain } from "../../../core/domain-events.ts";
import type { ConsumerId } from "../../../core/ids.ts";
import { revokeShare } from "../../../core/shares/revocation.ts";
import type { Instant } from "../../../core/time.ts";
import { erasePersonFromShard } from "../../../storage/account-erasures.ts";
import { commit } from "../../../storage/commit.ts";
import { batch, type Database, type Statement } from "../../../storage/database.ts";
import { updateSharesRevoked, isOutdatedShare } from "../../../storage/share-changes.ts";
import { listOverdueShares, sweepShares } from "../../../storage/share-sweep.ts";
import { listUnendedShares, type ChangeableShare } from "../../../storage/shares.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { prepareOwnerNotices } from "../owner-notices.ts";

interface ErasedPerson {
  readonly id: ConsumerId;
  readonly chain: AuditChain;
}

const batchSize = 500; // the number of shares that one transaction revokes

type RevocableShare = Pick<ChangeableShare, "share" | "chains">;

/** Prepares one notice per business about its shares in `active`. A notice contains share IDs and the deadline, but no personal data. */
const prepareNotices = (
  services: WriteDependencies,
  db: Database,
  active: readonly RevocableShare[],
  ceaseBy: Instant,
): Promise<readonly Statement[]> => {
  const byBusiness = Map.groupBy(active, ({ share }) => share.business.id);
  const notices = [...byBusiness].map(([businessId, businessShares]) => {
    const data = { shareIds: businessShares.map(({ share }) => share.id), ceaseBy };
    return { businessId, notice: { template: "share_owner_notice", data } as const };
  });
  return prepareOwnerNotices(services, db, notices);
};

const revokeShares = async (services: WriteDependencies, db: Database, active: readonly RevocableShare[], actor: Actor): Promise<void> => {
  const now = services.clock();
  const revoked = active.map(({ share, chains }) => revokeShare(share, chains, actor, now));
  const [first] = revoked;
  if (first === undefined) return;
  const ids = active.map(({ share }) => share.id);
  const notices = await prepareNotices(services, db, active, first.ceaseBy);
  await commit(
    db,
    services,
    [updateSharesRevoked(db, ids, first, crypto.randomUUID()), ...notices],
    revoked.map(({ domainEvent }) => domainEvent),
  );
};

export interface ErasureProgress {
  readonly revokedCount: number;
  /** False if the work budget was used up before everything was erased. */
  readonly isDone: boolean;
}

/**
 * Revokes the person's active shares in batches of 500, and then erases everything that identifies the person in this shard. One
 * transaction revokes a batch and writes its events and the notices to owners. Expired shares are swept instead of revoked. Stops when the
 * work budget is used up. A repeated call continues.
 */
export const eraseInShard = async (services: WriteDependencies, db: Database, { id, chain }: ErasedPerson): Promise<ErasureProgress> => {
  let revokedCount = 0;
  while (await services.hasBudget()) {
    const now = services.clock();
    const overdue = await listOverdueShares(db, id, now);
    if (overdue.length > 0) {
      await sweepShares(db, "live", overdue, now);
      for (const { businessId } of overdue) services.scheduleEvents(businessId, "live");
    }
    const unended = await listUnendedShares(db, id, now, batchSize);
    if (unended.length === 0) {
      await batch(db, erasePersonFromShard(db, id, chain));
      return { revokedCount, isDone: true };
    }
    // Shares that have expired since the sweep above are not revoked here. The next iteration sweeps them.
    const active = unended.filter(({ share }) => share.status === "active");
    try {
      await revokeShares(services, db, active, { kind: "consumer", id });
      revokedCount += active.length;
    } catch (error) {
      if (!isOutdatedShare(error)) throw error; // otherwise, a share has ended since it was loaded, so load the remaining shares again
    }
  }
  return { revokedCount, isDone: false };
};
