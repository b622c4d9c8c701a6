import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import type { Database } from "../../../storage/database.ts";
import {
  listNextToWithdraw,
  finishAccountWithdrawal,
  listNamingCertificates,
  insertAccountWithdrawal,
  type AccountWithdrawal,
} from "../../../storage/person-certificates.ts";
import { isAlreadyWithdrawn } from "../../../storage/withdrawals.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { maxPerBatch, commitWithdrawals, scheduleWithdrawalFollowUp } from "../withdrawals/commit-withdrawals.ts";
import { loadEmailIndex } from "./load-email-index.ts";
import { accountWithdrawalChange } from "./withdraw-own-certificate.ts";

export type WithdrawServices = ConsumerWriteDependencies;

const maxBatches = 10;

/** Some batches of it: how many certificates, and whether that was all. */
export const withdrawBatches = async (
  services: WithdrawServices,
  db: Database,
  work: AccountWithdrawal,
): Promise<{ readonly withdrawn: number; readonly isDone: boolean }> => {
  let withdrawn = 0;
  for (let done = 0; done < maxBatches && (await services.hasBudget()); done += 1) {
    const certificates: readonly WithdrawableCertificate[] = await listNextToWithdraw(db, work, maxPerBatch);
    const [first] = certificates;
    if (first === undefined) {
      await finishAccountWithdrawal(db, work).run();
      return { withdrawn, isDone: true };
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
      if (!isAlreadyWithdrawn(error)) throw error; // one of them was withdrawn meanwhile: what is left is read again
    }
  }
  return { withdrawn, isDone: false };
};

export interface BulkWithdrawal {
  readonly withdrawnAt: Instant;
  /** Before this answer. */
  readonly withdrawn: number;
  /** The rest follows by itself. */
  readonly isPending: boolean;
}

/**
 * Everything that stands at this moment, of one business or of all. Refuses `unauthorized` for a person who is gone, and
 * `cert_not_found` where nothing of that business names them. Throws where a home does not answer; asked again, it goes on.
 */
export const withdrawAllCertificates = async (
  services: WithdrawServices,
  person: Pick<Person, "id">,
  from: { readonly businessId: BusinessId | null } | "everybody",
): Promise<Result<BulkWithdrawal, "unauthorized" | "cert_not_found">> => {
  const address = await loadEmailIndex(services, person);
  if (address === null) return refuse("unauthorized");
  const now = services.clock();
  const businessId = from === "everybody" ? null : from.businessId;
  const homes = businessId === null ? services.shards.all().map(([, db]) => db) : [services.shards.forId(businessId)];
  if (from !== "everybody") {
    const one = { startingAfter: null, limit: 1 };
    const named = businessId === null ? [] : await listNamingCertificates(services.shards.forId(businessId), address, businessId, one);
    if (named.length === 0) return refuse("cert_not_found");
  }
  const work: AccountWithdrawal = { addressIndex: address, businessId, withdrawnAt: now };
  const withdrawing = homes.map(async (db) => {
    await insertAccountWithdrawal(db, work).run();
    return withdrawBatches(services, db, work);
  });
  await Promise.allSettled(withdrawing); // each goes on, whatever becomes of the others
  const answers = await Promise.all(withdrawing);
  return ok({
    withdrawnAt: now,
    withdrawn: answers.reduce((sum, one) => sum + one.withdrawn, 0),
    isPending: answers.some(({ isDone }) => !isDone),
  });
};
