// A person deletes their account. The wish is written down first, and from then on nothing can be granted or changed in it; then each
// home ends their shares and forgets them, the own home last. Whatever dies in between, a cron goes on from the wish.
import type { Person } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import { factOf, type AuditChain } from "../../../core/facts.ts";
import { homeOfId, type ConsumerId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { revokeShare } from "../../../core/shares/end.ts";
import type { Instant } from "../../../core/time.ts";
import { addressToErase, chainOfPerson, homesOfPerson } from "../../../storage/people.ts";
import { beginErasure, claimErasure, eraseAccount, forgetPerson, type Erasure } from "../../../storage/account-erasures.ts";
import { commit } from "../../../storage/commit.ts";
import { isOutdatedFields } from "../../../storage/contact-fields.ts";
import { batch, type Database, type Statement } from "../../../storage/database.ts";
import { insertMail, insertMails, sealMail } from "../../../storage/outboxes/mail.ts";
import { ownerAddressesOf } from "../../../storage/owners.ts";
import { isOutdatedShare, updateRevokedTogether } from "../../../storage/share-changes.ts";
import { overdueShares, sweepShares } from "../../../storage/share-sweep.ts";
import { unendedShares, type ChangeableShare } from "../../../storage/shares.ts";
import { failingAlone } from "../../log.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { claimed } from "../allowance.ts";

type EraseServices = Runtime & Stores & Schedules;

/** Who is erased, and the chain that tells of it. */
interface Erased {
  readonly id: ConsumerId;
  readonly chain: AuditChain;
}

const perBatch = 500;

type Ending = Pick<ChangeableShare, "share" | "chains">;

/** The owners of each business hear once, by numbers and deadline only. */
const ownerMails = async (
  { vault }: Stores,
  db: Database,
  ending: readonly Ending[],
  ceaseBy: Instant,
  now: Instant,
): Promise<Statement> => {
  const byBusiness = Map.groupBy(ending, ({ share }) => share.business.id);
  const owners = await ownerAddressesOf(db, vault, [...byBusiness.keys()]);
  const mails = [...byBusiness].flatMap(([businessId, of]) => {
    const data = { share_ids: of.map(({ share }) => share.id), cease_by: ceaseBy };
    return (owners.get(businessId) ?? []).map((to) => sealMail(vault, { template: "share_owner_notice", data, to, now }));
  });
  return insertMails(db, await Promise.all(mails));
};

const revokeTogether = async (services: EraseServices, db: Database, ending: readonly Ending[], actor: Actor): Promise<void> => {
  const now = services.clock();
  const revoked = ending.map(({ share, chains }) => revokeShare(share, chains, actor, now));
  const [first] = revoked;
  if (first === undefined) return;
  const ids = ending.map(({ share }) => share.id);
  const mails = await ownerMails(services, db, ending, first.ceaseBy, now);
  await commit(
    db,
    services,
    [updateRevokedTogether(db, ids, first, crypto.randomUUID()), mails],
    revoked.map(({ fact }) => fact),
  );
};

/** Shares that were ended, and whether that is all there was to do. */
interface ErasedPart {
  readonly ended: number;
  readonly isDone: boolean;
}

/** Ends a person's shares in a home and forgets who they were. Done again, it finds nothing. */
export const eraseInHome = async (services: EraseServices, db: Database, { id, chain }: Erased): Promise<ErasedPart> => {
  let ended = 0;
  while (await services.goesOn()) {
    const now = services.clock();
    const overdue = await overdueShares(db, id, now);
    if (overdue.length > 0) {
      await sweepShares(db, "live", overdue, now);
      for (const { businessId } of overdue) services.scheduleEvents(businessId, "live");
    }
    const unended = await unendedShares(db, id, now, perBatch);
    if (unended.length === 0) {
      await batch(db, forgetPerson(db, id, chain));
      return { ended, isDone: true };
    }
    // The rest are over by their time, and the next look sweeps them.
    const ending = unended.filter(({ share }) => share.status === "active");
    try {
      await revokeTogether(services, db, ending, { kind: "consumer", id });
      ended += ending.length;
    } catch (error) {
      if (!isOutdatedShare(error)) throw error; // one of them ended meanwhile: what is left is read again
    }
  }
  return { ended, isDone: false };
};

/** Every home, and then the account itself. A home that fails leaves the rest to the cron. */
const eraseEverywhere = async (services: EraseServices, own: Database, { consumerId: id, language }: Erasure): Promise<ErasedPart> => {
  const { vault } = services;
  const chain = await chainOfPerson(own, id);
  if (chain === null) throw new Error("accounts: nobody has this account");
  const homes = new Set([...(await homesOfPerson(own, id)), homeOfId(id)]);
  const erasing = [...homes].map(async (home) => eraseInHome(services, services.homes.at(home), { id, chain }));
  await Promise.allSettled(erasing); // each goes on, whatever becomes of the others
  const parts = await Promise.all(erasing);
  const ended = parts.reduce((sum, part) => sum + part.ended, 0);
  if (parts.some(({ isDone }) => !isDone)) return { ended, isDone: false };
  const now = services.clock();
  const to = await addressToErase(own, vault, id);
  const farewell = to === null ? [] : await insertMail(own, vault, { template: "account_deleted", data: { at: now }, to, language, now });
  const act = { type: "account.deleted", entityType: "consumer", entityId: id } as const;
  const deleted = factOf({ chain, actor: { kind: "consumer", id } }, act, now);
  try {
    await commit(own, services, [...eraseAccount(own, id), ...farewell], [deleted]);
  } catch (error) {
    if (!isOutdatedFields(error)) throw error; // another worker was here first
  }
  services.scheduleMail();
  return { ended, isDone: true };
};

export interface DeletedAccount {
  /** By this call. */
  readonly sharesRevoked: number;
}

/** Refuses `unauthorized` for an account that is gone. Throws where a home does not answer; the rest then follows by itself. */
export const deleteAccount = async (
  services: EraseServices,
  { id }: Person,
  language: MailLanguage,
): Promise<Result<DeletedAccount, "unauthorized">> => {
  const own = services.homes.of(id);
  if (!(await beginErasure(own, { consumerId: id, language }, services.clock()))) return refuse("unauthorized");
  const { ended } = await eraseEverywhere(services, own, { consumerId: id, language });
  return ok({ sharesRevoked: ended });
};

/** Accounts whose erasure was left unfinished. */
export const continueErasures = async (services: EraseServices, own: Database): Promise<void> => {
  for await (const erasure of claimed(services, (now) => claimErasure(own, now)))
    await failingAlone(services, "account erasure", () => eraseEverywhere(services, own, erasure));
};
