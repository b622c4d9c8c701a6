import type { Database } from "../../../storage/database.ts";
import { claimAccountWithdrawal } from "../../../storage/person-certificates.ts";
import { runIsolated } from "../../log.ts";
import { claimEach } from "../work-budget.ts";
import { withdrawBatches, type WithdrawServices } from "./withdraw-all-certificates.ts";

/** What is left of withdrawals in a home. */
export const continueAccountWithdrawals = async (services: WithdrawServices, db: Database): Promise<void> => {
  for await (const work of claimEach(services, (now) => claimAccountWithdrawal(db, now)))
    await runIsolated(services, "account withdrawal", () => withdrawBatches(services, db, work));
};
