// Each minute: shares that are due a warning or have come to their end, the mails that follow, and what a grant or a change of fields left
// for another home, accounts whose erasure is not finished, and withdrawals from accounts that go on.
import type { Environment } from "../../core/access/entitlement.ts";
import type { BusinessId } from "../../core/ids.ts";
import type { Database } from "../../storage/database.ts";
import { listDueShares, maxSweptShares, sweepShares } from "../../storage/share-sweep.ts";
import { continueAccountWithdrawals } from "../operations/consumers/continue-account-withdrawals.ts";
import { continueAccountErasures } from "../operations/consumers/continue-account-erasures.ts";
import { continueFanOuts } from "../operations/consumers/continue-fan-outs.ts";
import { sendShareNotices } from "../operations/shares/send-share-notices.ts";
import { settleShareIntents } from "../operations/shares/settle-share-intents.ts";
import type { Platform, Services } from "../services.ts";
import { forEachShard } from "./each-shard.ts";
import { createSchedules } from "./schedulers.ts";

const maxBusinessesToPlace = 20; // businesses whose events are placed at once; those of others are left to the minute's own job

type TouchedBusinesses = Readonly<Record<Environment, Set<BusinessId>>>;

const sweepEnvironment = async (platform: Platform, db: Database, environment: Environment, touched: TouchedBusinesses): Promise<void> => {
  while (await platform.hasBudget()) {
    const now = platform.clock();
    const due = await listDueShares(db, environment, now);
    if (due.length > 0) await sweepShares(db, environment, due, now);
    for (const { businessId } of due) if (touched[environment].size < maxBusinessesToPlace) touched[environment].add(businessId);
    if (due.length < maxSweptShares) return;
  }
};

/** These jobs run what requests run, which ask for work that follows. */
const withSchedules = (platform: Platform): Services => Object.assign(Object.create(platform) as Platform, createSchedules(platform));

/** What one run does not come to is the next minute's: those that have been due longest are first. */
export const sweepDueShares = async (platform: Platform): Promise<void> => {
  const services = withSchedules(platform);
  const touched: TouchedBusinesses = { live: new Set(), sandbox: new Set() };
  await forEachShard(services, "shares", async (db) => {
    await sweepEnvironment(services, db, "live", touched);
    await sweepEnvironment(services, db, "sandbox", touched);
  });
  for (const businessId of touched.live) services.scheduleEvents(businessId, "live");
  for (const businessId of touched.sandbox) services.scheduleEvents(businessId, "sandbox");
  if (touched.live.size + touched.sandbox.size > 0) services.scheduleFollowUp();
  let written = 0;
  await forEachShard(services, "share notices", async (db) => {
    written += await sendShareNotices(services, db);
  });
  if (written > 0) services.scheduleMail();
};

export const settleShares = (platform: Platform): Promise<void> => {
  const services = withSchedules(platform);
  return forEachShard(platform, "share settling", async (db) => {
    await settleShareIntents(services, db);
    await continueFanOuts(services, db);
    await continueAccountErasures(services, db);
    await continueAccountWithdrawals(services, db);
  });
};
