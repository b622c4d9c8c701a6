// Suspends businesses whose payment has been past due for fourteen days, and lets the plan of such consumers rest, in every home.
import { entitlementFacts } from "../../core/billing/facts.ts";
import { graceMs, suspendedFrom } from "../../core/billing/standing.ts";
import type { Instant } from "../../core/time.ts";
import {
  billedAccount,
  isOutdatedBilling,
  putCustomer,
  setBusinessEntitlement,
  setConsumerPlan,
  standsAsRead,
  unpaidCustomers,
  type BilledAccount,
  type BillingCustomer,
} from "../../storage/billing.ts";
import { commitQuietly } from "../../storage/commit.ts";
import type { Database } from "../../storage/database.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

const maxPerRun = 100; // a minute; they become due one by one

const suspend = async (
  platform: Platform,
  db: Database,
  customer: BillingCustomer,
  account: BilledAccount,
  now: Instant,
): Promise<void> => {
  const why = { because: { reason: "unpaid" }, actor: { kind: "system" }, at: now } as const;
  const rows = [standsAsRead(db, customer, account), putCustomer(db, suspendedFrom(customer, now), now)];
  if (account.kind === "consumer") {
    const facts = entitlementFacts({ account, plan: { from: account.plan, to: "free" }, ...why });
    await commitQuietly(db, platform, [...rows, setConsumerPlan(db, account.id, "free")], facts);
  } else {
    const facts = entitlementFacts({ account, status: { from: account.status, to: "suspended" }, ...why });
    await commitQuietly(
      db,
      platform,
      [...rows, setBusinessEntitlement(db, account.id, { status: "suspended", plan: account.plan })],
      facts,
    );
  }
};

const sweepHome = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  for (const customer of await unpaidCustomers(db, now - graceMs, maxPerRun)) {
    if (!(await platform.goesOn())) return;
    const account = customer.accountId === null ? null : await billedAccount(db, customer.accountId);
    if (account === null) continue;
    try {
      await suspend(platform, db, customer, account, now);
    } catch (error) {
      if (!isOutdatedBilling(error)) throw error; // it was paid at this very moment; otherwise the next minute sees it again
    }
  }
};

export const suspendUnpaid = (platform: Platform): Promise<void> => inEachHome(platform, "unpaid", (db) => sweepHome(platform, db));
