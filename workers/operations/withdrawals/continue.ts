// A withdrawal from everything, by the person or as the business recorded it, goes on with the certificates that did not fit into its first batch.
import { continueWithdrawalWork, finishWithdrawalWork, type WithdrawalWork } from "../../../storage/outboxes/withdrawals.ts";
import { activeWithAddress, recordedOf } from "../../../storage/withdrawals.ts";
import { byBusiness, byPerson, type WithdrawalChange } from "../../../core/withdrawals/withdrawal.ts";
import type { Database } from "../../../storage/database.ts";
import type { Proofs, Runtime, Stores } from "../../services.ts";
import { commitWithdrawals, maxPerBatch } from "./commit-withdrawals.ts";

const changeOf = async ({ vault }: Stores, db: Database, work: WithdrawalWork): Promise<WithdrawalChange> => {
  if (work.method !== "business_recorded") return byPerson(work.method);
  const recorded = await recordedOf(db, vault, work);
  if (recorded === null || work.apiKeyId === null) throw new Error("withdrawals: work that nobody recorded");
  return byBusiness(recorded, work.apiKeyId);
};

/** One batch of it. The work is finished with the last certificate, in the same batch. */
export const continueWithdrawals = async (platform: Runtime & Stores & Proofs, db: Database, work: WithdrawalWork): Promise<void> => {
  const { certId, issuedUntil } = work;
  const certificates = await activeWithAddress(db, work, maxPerBatch);
  const isLast = certificates.length < maxPerBatch;
  const next = isLast ? finishWithdrawalWork(db, certId) : continueWithdrawalWork(db, certId, platform.clock());
  if (certificates.length === 0) {
    await next.run();
    return;
  }
  // The moment of the act, not of this batch: that is when it was taken back.
  const change = { change: await changeOf(platform, db, work), scope: "business", now: issuedUntil } as const;
  await commitWithdrawals(platform, db, certificates, change, { after: [next] });
};
