// Every minute, continues work on shares and accounts that one request could not finish: grants and field changes that involve another
// shard, account deletions, and withdrawals for all of a person's certificates.
import { continueAccountErasures } from "../operations/consumers/continue-account-erasures.ts";
import { continueAccountWithdrawals } from "../operations/consumers/continue-account-withdrawals.ts";
import { continueFanOuts } from "../operations/consumers/continue-fan-outs.ts";
import { settleShareIntents } from "../operations/shares/settle-share-intents.ts";
import type { Platform } from "../platform/platform.ts";
import { withSchedules } from "./follow-up-work.ts";
import { forEachShard } from "./for-each-shard.ts";

/** Continues due work until none is left or this run's budget is used up. The next run does the rest. */
export const settleShares = (platform: Platform): Promise<void> => {
  const services = withSchedules(platform);
  return forEachShard(platform, "share-settling", async (db, shard) => {
    await settleShareIntents(services, db);
    await continueFanOuts(services, db);
    await continueAccountErasures(services, db);
    await continueAccountWithdrawals(services, db, shard);
  });
};
