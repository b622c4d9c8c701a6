// Suspends businesses whose payment has been past due for 14 days. After the same time, moves consumers to the free plan.
import { gracePeriodMs, markSuspended } from "../../core/billing/billing-status.ts";
import type { Instant } from "../../core/time.ts";
import {
  findBilledAccount,
  isOutdatedBilling,
  upsertBillingCustomer,
  assertUnchanged,
  listUnpaidCustomers,
  type BillingCustomer,
} from "../../storage/billing.ts";
import { commitWithoutFollowUp } from "../../storage/commit.ts";
import type { Database } from "../../storage/database.ts";
import { runIsolated } from "../log.ts";
import { prepareEntitlementChange } from "../operations/billing/prepare-entitlement-change.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

const maxPerRun = 100; // the limit per shard per minute; it is enough because customers become due one by one

const suspendCustomer = async (platform: Platform, db: Database, customer: BillingCustomer, now: Instant): Promise<void> => {
  const account = customer.accountId === null ? null : await findBilledAccount(db, customer.accountId);
  if (account === null) return;
  const entitlement = account.kind === "consumer" ? ({ plan: "free" } as const) : ({ status: "suspended" } as const);
  const change = prepareEntitlementChange(db, account, entitlement, { reason: "unpaid" }, now);
  const statements = [
    assertUnchanged(db, customer, account),
    upsertBillingCustomer(db, markSuspended(customer, now), now),
    ...change.statements,
  ];
  try {
    await commitWithoutFollowUp(db, platform, statements, change.domainEvents);
  } catch (error) {
    if (!isOutdatedBilling(error)) throw error; // the customer has probably just paid; otherwise, the next run finds the row again
  }
};

const suspendUnpaidInShard = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  for (const customer of await listUnpaidCustomers(db, now - gracePeriodMs, maxPerRun)) {
    if (!(await platform.hasBudget())) return;
    // A change fails if another of the account's shards does not respond. That must not stop the other accounts.
    await runIsolated(platform, "unpaid", () => suspendCustomer(platform, db, customer, now));
  }
};

/** Processes at most 100 customers per shard. Skips customers who pay in the meantime. */
export const suspendUnpaid = (platform: Platform): Promise<void> =>
  forEachShard(platform, "unpaid", (db) => suspendUnpaidInShard(platform, db));
