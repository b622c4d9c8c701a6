import type { Actor } from "../../../core/actor.ts";
import type { AuditChain } from "../../../core/domain-events.ts";
import type { ConsumerId } from "../../../core/ids.ts";
import { revokeShare } from "../../../core/shares/revocation.ts";
import type { Instant } from "../../../core/time.ts";
import { erasePersonFromShard } from "../../../storage/account-erasures.ts";
import { commit } from "../../../storage/commit.ts";
import { batch, type Database, type Statement } from "../../../storage/database.ts";
import { sealMail, insertMails } from "../../../storage/outboxes/mail.ts";
import { listOwnerAddresses } from "../../../storage/owners.ts";
import { updateSharesRevoked, isOutdatedShare } from "../../../storage/share-changes.ts";
import { listOverdueShares, sweepShares } from "../../../storage/share-sweep.ts";
import { listUnendedShares, type ChangeableShare } from "../../../storage/shares.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";

export type EraseServices = WriteDependencies;

/** Who is erased, and the chain that tells of it. */
interface ErasedPerson {
  readonly id: ConsumerId;
  readonly chain: AuditChain;
}

const batchSize = 500;

type EndingShare = Pick<ChangeableShare, "share" | "chains">;

/** The owners of each business hear once, by numbers and deadline only. */
const prepareOwnerMail = async (
  { vault }: Stores,
  db: Database,
  ending: readonly EndingShare[],
  ceaseBy: Instant,
  now: Instant,
): Promise<Statement> => {
  const byBusiness = Map.groupBy(ending, ({ share }) => share.business.id);
  const owners = await listOwnerAddresses(db, vault, [...byBusiness.keys()]);
  const mails = [...byBusiness].flatMap(([businessId, of]) => {
    const data = { shareIds: of.map(({ share }) => share.id), ceaseBy };
    return (owners.get(businessId) ?? []).map((to) => sealMail(vault, { template: "share_owner_notice", data, to, now }));
  });
  return insertMails(db, await Promise.all(mails));
};

const revokeShares = async (services: EraseServices, db: Database, ending: readonly EndingShare[], actor: Actor): Promise<void> => {
  const now = services.clock();
  const revoked = ending.map(({ share, chains }) => revokeShare(share, chains, actor, now));
  const [first] = revoked;
  if (first === undefined) return;
  const ids = ending.map(({ share }) => share.id);
  const mails = await prepareOwnerMail(services, db, ending, first.ceaseBy, now);
  await commit(
    db,
    services,
    [updateSharesRevoked(db, ids, first, crypto.randomUUID()), mails],
    revoked.map(({ domainEvent }) => domainEvent),
  );
};

/** Shares that were ended, and whether that is all there was to do. */
export interface ErasureProgress {
  readonly revokedCount: number;
  readonly isDone: boolean;
}

/** Ends a person's shares in a home and forgets who they were. Done again, it finds nothing. */
export const eraseInShard = async (services: EraseServices, db: Database, { id, chain }: ErasedPerson): Promise<ErasureProgress> => {
  let ended = 0;
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
      return { revokedCount: ended, isDone: true };
    }
    // The rest are over by their time, and the next look sweeps them.
    const ending = unended.filter(({ share }) => share.status === "active");
    try {
      await revokeShares(services, db, ending, { kind: "consumer", id });
      ended += ending.length;
    } catch (error) {
      if (!isOutdatedShare(error)) throw error; // one of them ended meanwhile: what is left is read again
    }
  }
  return { revokedCount: ended, isDone: false };
};
