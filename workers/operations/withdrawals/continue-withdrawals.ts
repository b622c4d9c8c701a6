import { sourceFromPerson, sourceFromBusiness, type WithdrawalSource } from "../../../core/withdrawals/withdrawal.ts";
import type { Database } from "../../../storage/database.ts";
import { finishWithdrawalWork, continueWithdrawalWork, type WithdrawalWork } from "../../../storage/outboxes/withdrawal-work.ts";
import { findRecordedWithdrawal, listActiveWithAddress } from "../../../storage/withdrawals.ts";
import type { Stores } from "../dependencies.ts";
import type { WithdrawalDependencies } from "./dependencies.ts";
import { maxPerBatch, commitWithdrawals } from "./commit-withdrawals.ts";

const loadWithdrawalChange = async ({ vault }: Stores, db: Database, work: WithdrawalWork): Promise<WithdrawalSource> => {
  if (work.method !== "business_recorded") return sourceFromPerson(work.method);
  const recorded = await findRecordedWithdrawal(db, vault, work);
  if (recorded === null || work.apiKeyId === null) throw new Error("withdrawals: work that nobody recorded");
  return sourceFromBusiness(recorded, work.apiKeyId);
};

/** One batch of what did not fit into the first. The work is finished with the last certificate, in the same batch. */
export const continueWithdrawals = async (platform: WithdrawalDependencies, db: Database, work: WithdrawalWork): Promise<void> => {
  const { certId, issuedUntil } = work;
  const certificates = await listActiveWithAddress(db, work, maxPerBatch);
  const isLast = certificates.length < maxPerBatch;
  const next = isLast ? finishWithdrawalWork(db, certId) : continueWithdrawalWork(db, certId, platform.clock());
  if (certificates.length === 0) {
    await next.run();
    return;
  }
  // The moment of the act, not of this batch: that is when it was taken back.
  const change = { change: await loadWithdrawalChange(platform, db, work), scope: "business", now: issuedUntil } as const;
  await commitWithdrawals(platform, db, certificates, change, { after: [next] });
};
