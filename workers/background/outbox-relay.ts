// Continues withdrawals and captures policies, right after a response and every minute. Concurrent runs are safe.
import type { ShardId } from "../../core/ids.ts";
import type { Database } from "../../storage/database.ts";
import { claimWithdrawalWork } from "../../storage/outboxes/withdrawal-work.ts";
import { claimEach } from "../operations/work-budget.ts";
import { continueWithdrawals } from "../operations/withdrawals/continue-withdrawals.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { capturePolicies } from "./policy-capture.ts";

const finishWithdrawals = async (platform: Platform, db: Database, shard: ShardId): Promise<void> => {
  // A failure must not stop other people's withdrawals.
  for await (const work of claimEach(platform, (now) => claimWithdrawalWork(db, platform.vault, now)))
    await runIsolated(platform, "withdrawal", () => continueWithdrawals(platform, db, shard, work));
};

/** Processes withdrawals and policy captures that are due, until none are left or this run's budget is used up. */
export const relayOutbox = async (platform: Platform): Promise<void> => {
  await forEachShard(platform, "outbox", (db, shard) => finishWithdrawals(platform, db, shard));
  await forEachShard(platform, "outbox", (db) => capturePolicies(platform, db));
};
