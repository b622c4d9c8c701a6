// When a payment has been past due for 14 days, suspends the business, or moves the consumer to the free plan.
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
import { prepareEntitlementChange } from "../operations/billing/prepare-entitlement-change.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { maxDueRows, processDue } from "./process-due.ts";

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
  const due = await listUnpaidCustomers(db, now - gracePeriodMs, maxDueRows);
  // A change fails if another of the account's shards does not respond. That must not stop the other accounts.
  await processDue(platform, "unpaid", due, (customer) => suspendCustomer(platform, db, customer, now));
};

/** Processes the customers of each shard, within the work budget. Skips customers who pay in the meantime. */
export const suspendUnpaid = (platform: Platform): Promise<void> =>
  forEachShard(platform, "unpaid", (db) => suspendUnpaidInShard(platform, db));
