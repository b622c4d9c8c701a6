// Implements POST /v1/me/certificates/withdraw. Withdraws consent for all of the person's certificates with one business or with all
// businesses, and ends the shares with these businesses.
import type { Person } from "../../../core/access/principal.ts";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import { shardOfId, type BusinessId, type ConsumerId, type ShardId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { getBusinessIdentity } from "../../../storage/accounts.ts";
import { batch, type Database } from "../../../storage/database.ts";
import {
  listNextToWithdraw,
  finishAccountWithdrawal,
  hasUncoveredConsent,
  isConfirmable,
  listNamingCertificates,
  insertAccountWithdrawal,
  markWithdrawalSpread,
  postponeAccountWithdrawal,
  selectUnfinishedWithdrawal,
  type AccountWithdrawal,
} from "../../../storage/person-certificates.ts";
import { hasShareNaming } from "../../../storage/shares.ts";
import { isOutdatedWithdrawal } from "../../../storage/withdrawals.ts";
import { runIsolated } from "../../log.ts";
import { queryIssuingShards, queryShardsInGroups } from "../query-issuing-shards.ts";
import { getNextCheckAt, mayHaveWaitingCertificates } from "../intake/waiting-certificates.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { maxPerBatch, commitWithdrawals, scheduleWithdrawalFollowUp } from "../withdrawals/commit-withdrawals.ts";
import { loadEmailIndex } from "./load-email-index.ts";
import { accountWithdrawalChange } from "../withdrawals/account-withdrawal-change.ts";
import { endNamedShares } from "../withdrawals/end-named-shares.ts";
import { prepareMailToPerson } from "../shares/mail-to-person.ts";

const maxBatches = 10; // the maximum number of batches per shard in one call

interface ShardWithdrawal {
  readonly withdrawn: number;
  readonly sharesEnded: number;
  readonly isDone: boolean;
}

/**
 * Adds the withdrawal to every shard that it covers. Adding it twice does no harm, because only active certificates are withdrawn. Returns
 * false if a shard did not respond. The other shards still get the withdrawal.
 */
const spreadWithdrawal = async (services: ConsumerWriteDependencies, db: Database, work: AccountWithdrawal): Promise<boolean> => {
  const isSpread = await runIsolated(services, "account withdrawal", async () => {
    const save = (each: Database) =>
      runIsolated(services, "account withdrawal", async () => {
        await insertAccountWithdrawal(each, { ...work, forAllShards: false }).run();
        return true;
      });
    const saved = await (work.businessId === null
      ? queryShardsInGroups(
          services,
          services.shards.all().map(([id]) => id),
          save,
        )
      : queryIssuingShards(services, work.businessId, save));
    if (saved.some((isSaved) => isSaved !== true)) return false;
    await markWithdrawalSpread(db, work).run();
    return true;
  });
  return isSpread === true;
};

/**
 * Withdraws up to 10 batches of certificates in one shard, within the work budget. When no certificates are left, ends the shares and
 * deletes the outbox row, unless the row also covers later certificates, or a certificate may still be in a journal. If the work is marked
 * `forAllShards`, first adds it to the other shards. If one of them does not respond, still withdraws the certificates in this shard. In
 * that case, the work is repeated after its lease ends.
 */
export const withdrawBatches = async (
  services: ConsumerWriteDependencies,
  db: Database,
  shard: ShardId,
  work: AccountWithdrawal,
): Promise<ShardWithdrawal> => {
  const isSpread = work.forAllShards !== true || (await spreadWithdrawal(services, db, work));
  const { businessId, addressIndex, withdrawnAt: issuedUntil } = work;
  const mayWait = await mayHaveWaitingCertificates(services, shard, { businessId, addressIndexes: [addressIndex], issuedUntil });
  let withdrawn = 0;
  for (let done = 0; done < maxBatches && (await services.hasBudget()); done += 1) {
    const certificates: readonly WithdrawableCertificate[] = await listNextToWithdraw(db, work, maxPerBatch);
    const [first] = certificates;
    if (first === undefined) {
      const { ended, isDone } = await endNamedShares(services, db, work);
      if (!isDone || !isSpread) return { withdrawn, sharesEnded: ended, isDone: false };
      if (mayWait) {
        await postponeAccountWithdrawal(db, work, getNextCheckAt(work.withdrawnAt, services.clock())).run();
        return { withdrawn, sharesEnded: ended, isDone: false };
      }
      const { unfinished } = await batch(db, {
        finished: finishAccountWithdrawal(db, work),
        unfinished: selectUnfinishedWithdrawal(db, work),
      });
      return { withdrawn, sharesEnded: ended, isDone: unfinished.length === 0 };
    }
    try {
      await commitWithdrawals(
        services,
        db,
        certificates,
        { change: accountWithdrawalChange, scope: "business", now: work.withdrawnAt },
        {},
      );
      scheduleWithdrawalFollowUp(services, first);
      withdrawn += certificates.length;
    } catch (error) {
      if (!isOutdatedWithdrawal(error)) throw error; // otherwise, a certificate has changed, so load the remaining ones
    }
  }
  return { withdrawn, sharesEnded: 0, isDone: false };
};

export interface BulkWithdrawal {
  readonly withdrawnAt: Instant;
  /** The number of certificates that this call withdrew. */
  readonly withdrawn: number;
  /** The number of shares that this call ended. */
  readonly sharesEnded: number;
  /** True if the background job still has to finish the work. */
  readonly isPending: boolean;
}

/**
 * Saves the withdrawal in the person's shard together with the email that confirms it, so that the email is written once and never lost.
 * The row stays until the other shards have the withdrawal too. While it exists, a repeated request sends no second email. Therefore, even
 * if the business has nothing in the person's shard, the row stays for a minute.
 */
const saveInOwnShard = async (
  services: ConsumerWriteDependencies,
  ownDb: Database,
  work: AccountWithdrawal & { readonly consumerId: ConsumerId },
  others: readonly Database[],
  language: Language,
): Promise<void> => {
  const { consumerId, businessId, withdrawnAt } = work;
  const [business, ...found] = await Promise.all([
    businessId === null ? null : getBusinessIdentity(services.shards.forId(businessId), businessId),
    ...others.map((db) => runIsolated(services, "withdrawal confirmation", () => hasUncoveredConsent(db, work))),
  ]);
  // A shard that does not respond may have something to withdraw. It gets the withdrawal later.
  const hasElsewhere = found.some((has) => has !== false);
  const mail = await prepareMailToPerson(services, ownDb, consumerId, {
    template: "account_withdrawal_confirmation",
    data: {
      business:
        businessId === null || business === null
          ? null
          : { id: businessId, businessName: business.name ?? "", contact: business.contact, mailingAddress: business.mailingAddress },
      withdrawnAt,
      ceaseBy: getCeaseDeadline(withdrawnAt),
    },
    language,
    onlyIf: isConfirmable(work, hasElsewhere),
  });
  await batch(ownDb, [...mail, insertAccountWithdrawal(ownDb, work)]);
  services.scheduleMail();
};

/**
 * Withdraws every active certificate that names the person, from one business or from all businesses (`everybody`). Also ends the person's
 * shares with these businesses, and shares that other people made with the person's address. Returns `unauthorized` if the account no
 * longer exists, and `cert_not_found` if the business has no record that names the person. Throws if a shard is unavailable. A repeated
 * call continues the work. Emails one confirmation. Sends none if there is nothing to withdraw, or if the call repeats a withdrawal of the
 * last ten minutes that is still unfinished.
 */
export const withdrawAllCertificates = async (
  services: ConsumerWriteDependencies,
  person: Pick<Person, "id">,
  from: { readonly businessId: BusinessId | null } | "everybody",
  language: Language,
): Promise<Result<BulkWithdrawal, "unauthorized" | "cert_not_found">> => {
  const address = await loadEmailIndex(services, person);
  if (address === null) return refuse("unauthorized");
  const now = services.clock();
  const businessId = from === "everybody" ? null : from.businessId;
  const databases =
    businessId === null ? services.shards.all() : await queryIssuingShards(services, businessId, async (db, shard) => [shard, db] as const);
  if (from !== "everybody") {
    if (businessId === null) return refuse("cert_not_found");
    const db = services.shards.forId(businessId);
    const [certificates, shares] = await Promise.all([
      Promise.all(databases.map(([, each]) => listNamingCertificates(each, address, businessId, { startingAfter: null, limit: 1 }))),
      hasShareNaming(db, { addressIndex: address, consumerId: person.id, businessId }),
    ]);
    if (certificates.flat().length === 0 && !shares) return refuse("cert_not_found");
  }
  const ownShard = shardOfId(person.id);
  const ownDb = services.shards.get(ownShard);
  const others = databases.flatMap(([shard, db]) => (shard === ownShard ? [] : [db]));
  const work = { addressIndex: address, consumerId: person.id, businessId, withdrawnAt: now };
  await saveInOwnShard(services, ownDb, { ...work, forAllShards: others.length > 0 }, others, language);
  const saving = new Map(others.map((db) => [db, insertAccountWithdrawal(db, work).run()]));
  const saved = await Promise.allSettled(saving.values());
  if (others.length > 0 && saved.every(({ status }) => status === "fulfilled")) await markWithdrawalSpread(ownDb, work).run();
  const withdrawing = databases.map(async ([shard, db]) => {
    await saving.get(db);
    return withdrawBatches(services, db, shard, work);
  });
  await Promise.allSettled(withdrawing); // let the other shards finish even if one of them fails
  const results = await Promise.all(withdrawing);
  return ok({
    withdrawnAt: now,
    withdrawn: results.reduce((sum, result) => sum + result.withdrawn, 0),
    sharesEnded: results.reduce((sum, result) => sum + result.sharesEnded, 0),
    isPending: results.some(({ isDone }) => !isDone),
  });
};
