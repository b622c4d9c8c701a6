// Each minute: shares that are due a warning or have come to their end, the mails that follow, and what a grant or a change of fields left
// for another home, accounts whose erasure is not finished, and withdrawals from accounts that go on.
import type { Environment } from "../../core/access/entitlement.ts";
import type { BusinessId } from "../../core/ids.ts";
import type { Database } from "../../storage/database.ts";
import { dueShares, maxSwept, sweepShares } from "../../storage/share-sweep.ts";
import { continueAccountWithdrawals } from "../operations/consumers/certificates.ts";
import { continueErasures } from "../operations/consumers/erase-account.ts";
import { continueFanOuts } from "../operations/consumers/fan-out.ts";
import { writeNotices } from "../operations/shares/notices.ts";
import { settleIntents } from "../operations/shares/other-home.ts";
import type { Platform, Services } from "../services.ts";
import { inEachHome } from "./each-home.ts";
import { openSchedules } from "./schedulers.ts";

const maxToldAtOnce = 20; // businesses whose events are placed at once; those of others are left to the minute's own job

type Touched = Readonly<Record<Environment, Set<BusinessId>>>;

const sweepEnvironment = async (platform: Platform, db: Database, environment: Environment, touched: Touched): Promise<void> => {
  while (await platform.goesOn()) {
    const now = platform.clock();
    const due = await dueShares(db, environment, now);
    if (due.length > 0) await sweepShares(db, environment, due, now);
    for (const { businessId } of due) if (touched[environment].size < maxToldAtOnce) touched[environment].add(businessId);
    if (due.length < maxSwept) return;
  }
};

/** These jobs run what requests run, which ask for work that follows. */
const servicesOf = (platform: Platform): Services => Object.assign(Object.create(platform) as Platform, openSchedules(platform));

/** What one run does not come to is the next minute's: those that have been due longest are first. */
export const sweepDueShares = async (platform: Platform): Promise<void> => {
  const services = servicesOf(platform);
  const touched: Touched = { live: new Set(), sandbox: new Set() };
  await inEachHome(services, "shares", async (db) => {
    await sweepEnvironment(services, db, "live", touched);
    await sweepEnvironment(services, db, "sandbox", touched);
  });
  for (const businessId of touched.live) services.scheduleEvents(businessId, "live");
  for (const businessId of touched.sandbox) services.scheduleEvents(businessId, "sandbox");
  if (touched.live.size + touched.sandbox.size > 0) services.scheduleFollowUp();
  let written = 0;
  await inEachHome(services, "share notices", async (db) => {
    written += await writeNotices(services, db);
  });
  if (written > 0) services.scheduleMail();
};

export const settleShares = (platform: Platform): Promise<void> => {
  const services = servicesOf(platform);
  return inEachHome(platform, "share settling", async (db) => {
    await settleIntents(services, db);
    await continueFanOuts(services, db);
    await continueErasures(services, db);
    await continueAccountWithdrawals(services, db);
  });
};
