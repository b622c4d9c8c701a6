// A withdrawal from everything goes on with the certificates that did not fit into its first batch.
import { continueWithdrawalWork, finishWithdrawalWork, type WithdrawalWork } from "../../../storage/outboxes/withdrawals.ts";
import { activeWithAddress } from "../../../storage/withdrawals.ts";
import type { Database } from "../../../storage/database.ts";
import type { Proofs, Runtime, Stores } from "../../services.ts";
import { commitWithdrawals, maxPerBatch } from "./commit-withdrawals.ts";

/** One batch of it. The work is finished with the last certificate, in the same batch. */
export const continueWithdrawals = async (platform: Runtime & Stores & Proofs, db: Database, work: WithdrawalWork): Promise<void> => {
  const { certId, method, issuedUntil } = work;
  const certificates = await activeWithAddress(db, work, maxPerBatch);
  const isLast = certificates.length < maxPerBatch;
  const next = isLast ? finishWithdrawalWork(db, certId) : continueWithdrawalWork(db, certId, platform.clock());
  if (certificates.length === 0) {
    await next.run();
    return;
  }
  // The moment of the person's act, not of this batch: that is when they took it back.
  const actor = { kind: "subject", provenBy: method } as const;
  const change = { method, scope: "business", recorded: null, actor, now: issuedUntil } as const;
  await commitWithdrawals(platform, db, certificates, change, [next]);
};
