// Writes withdrawals of whole certificates: receipts, rows, events and the notice to the owners, in one transaction.
import { formatWithdrawalReceipt } from "../../../core/withdrawals/receipt.ts";
import { decideWithdrawal, type WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { commitWithoutFollowUp } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertWithdrawal } from "../../../storage/withdrawals.ts";
import type { Schedules } from "../dependencies.ts";
import { prepareOwnerNotice } from "../owner-notices.ts";
import type { WithdrawalDependencies } from "./dependencies.ts";

/**
 * The maximum number of certificates per batch. The limit keeps transactions short. Each withdrawal needs a signed receipt and one SQL
 * statement. For all withdrawals together, the change log, the audit entries and the ledger statements take one SQL statement each.
 */
export const maxPerBatch = 20;

/**
 * Withdraws all or none of the given certificates of a business, with the same method and actor. A withdrawal is never earlier than the
 * certificate's issuance or an earlier withdrawal for individual recipients, so its time can be later than `change.now`
 * (`getWithdrawalTime`). If one of them has been withdrawn since it was read, throws an error that `isOutdatedWithdrawal` recognizes. The
 * caller schedules the follow-up work.
 */
export const commitWithdrawals = async (
  services: WithdrawalDependencies,
  db: Database,
  certificates: readonly WithdrawableCertificate[],
  change: Omit<Parameters<typeof decideWithdrawal>[0], "certificate">,
  /** Statements that run in the same transaction, before and after those of the withdrawals. */
  { before = [], after = [] }: { readonly before?: readonly Statement[]; readonly after?: readonly Statement[] },
): Promise<void> => {
  const { vault, signer } = services;
  const prepared = await Promise.all(
    certificates.map(async (certificate) => {
      const { withdrawal, domainEvent } = decideWithdrawal({ certificate, ...change });
      const text = formatWithdrawalReceipt(certificate, withdrawal);
      const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(text) };
      const statements = await insertWithdrawal(db, vault, certificate, withdrawal, { text, signature });
      return { businessId: certificate.businessId, withdrawal, domainEvent, statements };
    }),
  );
  const [first] = prepared;
  if (first === undefined) throw new Error("withdrawals: nothing to withdraw");
  const ceaseBy = Math.min(...prepared.map(({ withdrawal }) => withdrawal.ceaseBy)); // the notice contains the earliest deadline
  const data = { certIds: certificates.map(({ id }) => id), ceaseBy };
  const notice = await prepareOwnerNotice(services, db, first.businessId, { template: "withdrawal_owner_notice", data });
  await commitWithoutFollowUp(
    db,
    services,
    [...before, ...prepared.flatMap(({ statements }) => statements), ...after, ...notice],
    prepared.map(({ domainEvent }) => domainEvent),
  );
};

/** Schedules the work that follows a withdrawal: sending events and email, draining audit entries and anchoring ledger statements. */
export const scheduleWithdrawalFollowUp = (services: Schedules, { businessId, environment }: WithdrawableCertificate): void => {
  services.scheduleEvents(businessId, environment);
  services.scheduleMail();
  services.scheduleFollowUp();
};
