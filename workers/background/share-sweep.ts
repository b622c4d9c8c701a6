// Every minute, expires shares, records expiry warnings, and writes the emails about expiring shares and missed cease deadlines.
import type { Environment } from "../../core/access/entitlement.ts";
import type { BusinessId } from "../../core/ids.ts";
import type { Database } from "../../storage/database.ts";
import { listDueShares, maxSweptShares, sweepShares } from "../../storage/share-sweep.ts";
import { sendShareNotices } from "../operations/shares/send-share-notices.ts";
import type { Platform } from "../platform/platform.ts";
import { withSchedules } from "./follow-up-work.ts";
import { forEachShard } from "./for-each-shard.ts";

const maxBusinessesToDrain = 20; // the limit per environment; the event sweep sends the events of the other businesses

type TouchedBusinesses = Readonly<Record<Environment, Set<BusinessId>>>;

const sweepEnvironment = async (platform: Platform, db: Database, environment: Environment, touched: TouchedBusinesses): Promise<void> => {
  while (await platform.hasBudget()) {
    const now = platform.clock();
    const due = await listDueShares(db, environment, now);
    if (due.length > 0) await sweepShares(db, environment, due, now);
    for (const { businessId } of due) if (touched[environment].size < maxBusinessesToDrain) touched[environment].add(businessId);
    if (due.length < maxSweptShares) return;
  }
};

/** Sweeps due shares within the work budget. The next run, a minute later, sweeps the rest. */
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
  await forEachShard(services, "share-notices", async (db) => {
    written += await sendShareNotices(services, db);
  });
  if (written > 0) services.scheduleMail();
};
