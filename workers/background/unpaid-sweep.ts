// Suspends businesses whose payment has been past due for fourteen days, and lets the plan of such consumers rest, in every home.
import { graceMs, suspendedFrom } from "../../core/billing/standing.ts";
import { billedAccount, isOutdatedBilling, putCustomer, standsAsRead, unpaidCustomers } from "../../storage/billing.ts";
import { commitQuietly } from "../../storage/commit.ts";
import type { Database } from "../../storage/database.ts";
import { entitlementChange } from "../operations/billing/sync.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

const maxPerRun = 100; // a minute; they become due one by one

const sweepHome = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  for (const customer of await unpaidCustomers(db, now - graceMs, maxPerRun)) {
    if (!(await platform.goesOn())) return;
    const account = customer.accountId === null ? null : await billedAccount(db, customer.accountId);
    if (account === null) continue;
    const after = account.kind === "consumer" ? ({ plan: "free" } as const) : ({ status: "suspended" } as const);
    const { rows, facts } = entitlementChange(db, account, after, { reason: "unpaid" }, now);
    const suspended = [standsAsRead(db, customer, account), putCustomer(db, suspendedFrom(customer, now), now), ...rows];
    try {
      await commitQuietly(db, platform, suspended, facts);
    } catch (error) {
      if (!isOutdatedBilling(error)) throw error; // it was paid at this very moment; otherwise the next minute sees it again
    }
  }
};

export const suspendUnpaid = (platform: Platform): Promise<void> => inEachHome(platform, "unpaid", (db) => sweepHome(platform, db));
