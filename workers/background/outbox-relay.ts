// Does what the outbox of changes holds: withdrawals that go on, policies to capture. Called right after an answer and by the
// minute cron; safe to call at any time, from anywhere, twice at once.
import type { Database } from "../../storage/database.ts";
import { claimWithdrawalWork } from "../../storage/outboxes/withdrawals.ts";
import { claimed } from "../operations/allowance.ts";
import { continueWithdrawals } from "../operations/withdrawals/withdraw.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";
import { capturePolicies } from "./policy-capture.ts";

const finishWithdrawals = async (platform: Platform, db: Database): Promise<void> => {
  for await (const work of claimed(platform, (now) => claimWithdrawalWork(db, now))) await continueWithdrawals(platform, db, work);
};

export const relayOutbox = async (platform: Platform): Promise<void> => {
  await inEachHome(platform, "outbox", (db) => finishWithdrawals(platform, db));
  await inEachHome(platform, "outbox", (db) => capturePolicies(platform, db));
};
