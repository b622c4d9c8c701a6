// The batch that withdraws certificates, whoever asked for it: signed receipts, audit entries, statements for the ledger, events
// and the mails to the owners of the business, all or nothing.
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import { withdrawalReceiptText } from "../../../core/withdrawals/receipt.ts";
import { withdraw, type WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { ownerAddresses } from "../../../storage/owners.ts";
import { insertWithdrawal } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";

/**
 * Keeps one batch short: it is one transaction, and each withdrawal in it has a receipt to sign. A withdrawal is at most two
 * statements, its row and its event; the audit entries share one insert, and so do the statements for the ledger. Twenty are 42;
 * with mails to ten owners, one to the person and two rows of their own, 55.
 */
export const maxPerBatch = 20;

/** How, by whom and when; the same for every certificate of the batch. */
export type CommonChange = Omit<Parameters<typeof withdraw>[0], "certificate">;

const prepareWithdrawal = async (platform: Stores & Proofs, db: Database, certificate: WithdrawableCertificate, change: CommonChange) => {
  const { signer, vault } = platform;
  const { withdrawal, fact } = withdraw({ certificate, ...change });
  const text = withdrawalReceiptText(certificate, withdrawal);
  const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(text) };
  return { withdrawal, fact, rows: await insertWithdrawal(db, vault, certificate, withdrawal, { text, signature }) };
};

/** Answers with the withdrawal of the first certificate. */
export const commitWithdrawals = async (
  platform: Runtime & Stores & Proofs,
  db: Database,
  certificates: readonly WithdrawableCertificate[],
  change: CommonChange,
  /** Rows that belong to the same change. */
  { before = [], after = [] }: { readonly before?: readonly Statement[]; readonly after?: readonly Statement[] },
): Promise<PublishedWithdrawal> => {
  const { vault, config, clock } = platform;
  const prepared = await Promise.all(certificates.map((certificate) => prepareWithdrawal(platform, db, certificate, change)));
  const [first] = certificates;
  const withdrawal = prepared[0]?.withdrawal;
  if (first === undefined || withdrawal === undefined) throw new Error("withdrawals: nothing to withdraw");
  const owners = await ownerAddresses(db, vault, first.businessId);
  const data = { cert_ids: certificates.map(({ id }) => id), cease_by: withdrawal.ceaseBy };
  const mails = await Promise.all(
    owners.map((to) => insertMail(db, vault, { template: "withdrawal_owner_notice", data, to, now: clock() })),
  );
  await commit(
    { db, vault, ledgerId: config.ledger.id },
    [...before, ...prepared.flatMap(({ rows }) => rows), ...after, ...mails.flat()],
    prepared.map(({ fact }) => fact),
  );
  const { withdrawnAt, ceaseBy, method, scope, recorded } = withdrawal;
  return { withdrawnAt, ceaseBy, method, scope, receivedAt: recorded?.receivedAt ?? null, acknowledgedAt: null };
};

/** After the answer the event, the mail, the audit entry and the ledger's statement go on their way. */
export const afterWithdrawal = (services: Schedules, { businessId, environment }: WithdrawableCertificate): void => {
  services.scheduleEvents(businessId, environment);
  services.scheduleMail();
  services.scheduleFollowUp();
};
