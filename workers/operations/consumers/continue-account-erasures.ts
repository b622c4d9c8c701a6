import { claimAccountErasure } from "../../../storage/account-erasures.ts";
import type { Database } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import { claimEach } from "../work-budget.ts";
import { eraseInAllShards } from "./erase-in-all-shards.ts";
import type { EraseServices } from "./erase-in-shard.ts";

/** Accounts whose erasure was left unfinished. */
export const continueAccountErasures = async (services: EraseServices, own: Database): Promise<void> => {
  for await (const erasure of claimEach(services, (now) => claimAccountErasure(own, now)))
    await runIsolated(services, "account erasure", () => eraseInAllShards(services, own, erasure));
};
