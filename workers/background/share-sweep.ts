// Each minute: shares that are due a warning or have come to their end, the mails that follow, and what a grant or a change of fields
// left for another home, accounts whose erasure is not finished,
// and withdrawals from accounts that go on.
import type { Environment } from "../../core/access/entitlement.ts";
import type { BusinessId } from "../../core/ids.ts";
import { secondMs } from "../../core/time.ts";
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

const maxBatches = 150; // 600 of the 1,000 queries an invocation may ask
const maxRunMs = 20 * secondMs;

const sweepEnvironment = async (services: Services, db: Database, environment: Environment): Promise<void> => {
  const start = services.clock();
  const touched = new Set<BusinessId>();
  for (let done = 0; done < maxBatches && services.clock() < start + maxRunMs; done += 1) {
    const now = services.clock();
    const due = await dueShares(db, environment, now);
    if (due.length > 0) await sweepShares(db, environment, due, now);
    for (const { businessId } of due) touched.add(businessId);
    if (due.length < maxSwept) break;
  }
  for (const businessId of touched) services.scheduleEvents(businessId, environment);
  if (touched.size > 0) services.scheduleFollowUp();
};

/** These jobs run what requests run, which ask for work that follows. */
const servicesOf = (platform: Platform): Services => Object.assign(Object.create(platform) as Platform, openSchedules(platform));

export const sweepDueShares = (platform: Platform): Promise<void> => {
  const services = servicesOf(platform);
  return inEachHome(platform, "shares", async (db) => {
    await sweepEnvironment(services, db, "live");
    await sweepEnvironment(services, db, "sandbox");
    await writeNotices(services, db);
  });
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
