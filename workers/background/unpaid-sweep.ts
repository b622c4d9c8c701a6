// Suspends businesses whose payment has been past due for fourteen days, and lets the plan of such consumers rest, in every home.
import { gracePeriodMs, markSuspended } from "../../core/billing/billing-status.ts";
import {
  findBilledAccount,
  isOutdatedBilling,
  upsertBillingCustomer,
  assertUnchanged,
  listUnpaidCustomers,
} from "../../storage/billing.ts";
import { commitWithoutFollowUp } from "../../storage/commit.ts";
import type { Database } from "../../storage/database.ts";
import { prepareEntitlementChange } from "../operations/billing/prepare-entitlement-change.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";

const maxPerRun = 100; // a minute; they become due one by one

const suspendUnpaidInShard = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  for (const customer of await listUnpaidCustomers(db, now - gracePeriodMs, maxPerRun)) {
    if (!(await platform.hasBudget())) return;
    const account = customer.accountId === null ? null : await findBilledAccount(db, customer.accountId);
    if (account === null) continue;
    const after = account.kind === "consumer" ? ({ plan: "free" } as const) : ({ status: "suspended" } as const);
    const { rows, domainEvents } = prepareEntitlementChange(db, account, after, { reason: "unpaid" }, now);
    const suspended = [assertUnchanged(db, customer, account), upsertBillingCustomer(db, markSuspended(customer, now), now), ...rows];
    try {
      await commitWithoutFollowUp(db, platform, suspended, domainEvents);
    } catch (error) {
      if (!isOutdatedBilling(error)) throw error; // it was paid at this very moment; otherwise the next minute sees it again
    }
  }
};

export const suspendUnpaid = (platform: Platform): Promise<void> =>
  forEachShard(platform, "unpaid", (db) => suspendUnpaidInShard(platform, db));
