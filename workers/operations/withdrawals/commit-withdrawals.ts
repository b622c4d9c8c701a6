import { formatWithdrawalReceipt } from "../../../core/withdrawals/receipt.ts";
import { decideWithdrawal, type WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { commitWithoutFollowUp } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertOwnerMails } from "../../../storage/owners.ts";
import { insertWithdrawal } from "../../../storage/withdrawals.ts";
import type { Schedules } from "../dependencies.ts";
import type { WithdrawalDependencies } from "./dependencies.ts";

/**
 * Keeps one batch short: it is one transaction, and each withdrawal in it has a receipt to sign. A withdrawal is at most two
 * statements, its row and its event; the audit entries share one insert, and so do the statements for the ledger. Twenty are 42;
 * with mails to ten owners, one to the person and two rows of their own, 55.
 */
export const maxPerBatch = 20;

/** How, by whom and when is the same for every certificate of the batch. */
export const commitWithdrawals = async (
  services: WithdrawalDependencies,
  db: Database,
  certificates: readonly WithdrawableCertificate[],
  change: Omit<Parameters<typeof decideWithdrawal>[0], "certificate">,
  /** Rows that belong to the same change. */
  { before = [], after = [] }: { readonly before?: readonly Statement[]; readonly after?: readonly Statement[] },
): Promise<void> => {
  const { vault, signer, clock } = services;
  const prepared = await Promise.all(
    certificates.map(async (certificate) => {
      const { withdrawal, domainEvent } = decideWithdrawal({ certificate, ...change });
      const text = formatWithdrawalReceipt(certificate, withdrawal);
      const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(text) };
      const rows = await insertWithdrawal(db, vault, certificate, withdrawal, { text, signature });
      return { businessId: certificate.businessId, withdrawal, domainEvent, rows };
    }),
  );
  const [first] = prepared;
  if (first === undefined) throw new Error("withdrawals: nothing to withdraw");
  const data = { certIds: certificates.map(({ id }) => id), ceaseBy: first.withdrawal.ceaseBy };
  const mails = await insertOwnerMails(db, vault, first.businessId, { template: "withdrawal_owner_notice", data, now: clock() });
  await commitWithoutFollowUp(
    db,
    services,
    [...before, ...prepared.flatMap(({ rows }) => rows), ...after, ...mails],
    prepared.map(({ domainEvent }) => domainEvent),
  );
};

/** After the answer the event, the mail, the audit entry and the ledger's statement go on their way. */
export const scheduleWithdrawalFollowUp = (services: Schedules, { businessId, environment }: WithdrawableCertificate): void => {
  services.scheduleEvents(businessId, environment);
  services.scheduleMail();
  services.scheduleFollowUp();
};
