// Does what the outbox of changes holds: withdrawals that go on, policies to capture. Called right after an answer and by the
// minute cron; safe to call at any time, from anywhere, twice at once.
import type { Database } from "../../storage/database.ts";
import { claimWithdrawalWork } from "../../storage/outboxes/withdrawal-work.ts";
import { claimEach } from "../operations/work-budget.ts";
import { continueWithdrawals } from "../operations/withdrawals/continue-withdrawals.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";
import { capturePolicies } from "./policy-capture.ts";

const finishWithdrawals = async (platform: Platform, db: Database): Promise<void> => {
  for await (const work of claimEach(platform, (now) => claimWithdrawalWork(db, now))) await continueWithdrawals(platform, db, work);
};

export const relayOutbox = async (platform: Platform): Promise<void> => {
  await forEachShard(platform, "outbox", (db) => finishWithdrawals(platform, db));
  await forEachShard(platform, "outbox", (db) => capturePolicies(platform, db));
};
