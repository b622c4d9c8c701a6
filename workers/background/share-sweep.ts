// Each minute: shares that are due a warning or have come to their end, the mails that follow, and what a grant or a change of fields
// left for another home, accounts whose erasure is not finished,
// and withdrawals from accounts that go on.
import type { Environment } from "../../core/access/entitlement.ts";
import type { BusinessId } from "../../core/ids.ts";
import { secondMs, type Instant } from "../../core/time.ts";
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

// An invocation may ask a thousand queries, which all jobs of its minute share: a batch asks six at most, a page of mails five,
// and one more for each further home of its people.
const maxBatches = 60; // 60,000 shares, 360 queries
const maxPages = 40; // 2,000 mails, 200 queries
const maxRunMs = 20 * secondMs; // for shares, and again for mails: both are over before the next minute
const maxToldAtOnce = 20; // businesses whose events are placed at once; those of others are left to the minute's own job

/** What all homes of one run share. */
interface Run {
  batches: number;
  readonly until: Instant;
  readonly touched: Readonly<Record<Environment, Set<BusinessId>>>;
}

const sweepEnvironment = async (services: Services, db: Database, environment: Environment, run: Run): Promise<void> => {
  for (; run.batches > 0 && services.clock() < run.until; run.batches -= 1) {
    const now = services.clock();
    const due = await dueShares(db, environment, now);
    if (due.length > 0) await sweepShares(db, environment, due, now);
    const touched = run.touched[environment];
    for (const { businessId } of due) if (touched.size < maxToldAtOnce) touched.add(businessId);
    if (due.length < maxSwept) return;
  }
};

/** These jobs run what requests run, which ask for work that follows. */
const servicesOf = (platform: Platform): Services => Object.assign(Object.create(platform) as Platform, openSchedules(platform));

/** What one run does not come to is the next minute's: those that have been due longest are first. */
export const sweepDueShares = async (platform: Platform): Promise<void> => {
  const services = servicesOf(platform);
  const run: Run = { batches: maxBatches, until: platform.clock() + maxRunMs, touched: { live: new Set(), sandbox: new Set() } };
  await inEachHome(platform, "shares", async (db) => {
    await sweepEnvironment(services, db, "live", run);
    await sweepEnvironment(services, db, "sandbox", run);
  });
  const { live, sandbox } = run.touched;
  for (const businessId of live) services.scheduleEvents(businessId, "live");
  for (const businessId of sandbox) services.scheduleEvents(businessId, "sandbox");
  if (live.size + sandbox.size > 0) services.scheduleFollowUp();
  const notices = { pages: maxPages, until: platform.clock() + maxRunMs };
  await inEachHome(platform, "share notices", (db) => writeNotices(services, db, notices));
  if (notices.pages < maxPages) services.scheduleMail();
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
