// Background job: finishes interrupted account erasures.
import { claimAccountErasure } from "../../../storage/account-erasures.ts";
import type { Database } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { claimEach } from "../work-budget.ts";
import { eraseInAllShards } from "./erase-in-all-shards.ts";

/** Continues every unfinished account erasure in this shard, within the work budget. */
export const continueAccountErasures = async (services: WriteDependencies, personDb: Database): Promise<void> => {
  for await (const erasure of claimEach(services, (now) => claimAccountErasure(personDb, now)))
    await runIsolated(services, "account erasure", () => eraseInAllShards(services, personDb, erasure));
};
