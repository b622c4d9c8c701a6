// Background job: finishes interrupted withdrawals that cover all of a person's certificates with one or all businesses.
import type { ShardId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { claimAccountWithdrawal } from "../../../storage/person-certificates.ts";
import { runIsolated } from "../../log.ts";
import { claimEach } from "../work-budget.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { withdrawBatches } from "./withdraw-all-certificates.ts";

/** Continues every unfinished withdrawal in this shard, within the work budget. */
export const continueAccountWithdrawals = async (services: ConsumerWriteDependencies, db: Database, shard: ShardId): Promise<void> => {
  for await (const work of claimEach(services, (now) => claimAccountWithdrawal(db, services.vault, now)))
    await runIsolated(services, "account withdrawal", () => withdrawBatches(services, db, shard, work));
};
