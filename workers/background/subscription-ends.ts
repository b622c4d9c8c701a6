// Ends subscriptions at the payment provider: those of closed accounts, and the extra subscription of an account that would otherwise pay
// twice. Retries until the provider confirms the end. An account that an operator has reopened keeps its subscription.
import { computeRetryDelayMs } from "../../core/retry.ts";
import { minuteMs } from "../../core/time.ts";
import { findBilledAccount, findCustomerByAccount } from "../../storage/billing.ts";
import type { Database } from "../../storage/database.ts";
import {
  claimSubscriptionEnds,
  deleteSubscriptionEnd,
  postponeSubscriptionEnd,
  type SubscriptionEnd,
} from "../../storage/outboxes/subscription-ends.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachConcurrently, maxConcurrentConnections } from "./for-each-concurrently.ts";
import { forEachShard } from "./for-each-shard.ts";

const maxPerRun = 20; // the limit per shard per minute
const backoff = { firstMs: minuteMs, maxMs: 6 * 60 * minuteMs };

const endDueSubscription = async (platform: Platform, db: Database, due: SubscriptionEnd): Promise<void> => {
  const { subscriptionId, accountId, attempts } = due;
  const [account, customer] = await Promise.all([findBilledAccount(db, accountId), findCustomerByAccount(db, accountId)]);
  const isInUse = account?.isOver === false && customer?.subscriptionId === subscriptionId;
  const isDone = isInUse || (await platform.paymentProvider?.cancelSubscription(subscriptionId)) === "ended";
  const retryAt = platform.clock() + computeRetryDelayMs(backoff, attempts);
  await (isDone ? deleteSubscriptionEnd(db, subscriptionId) : postponeSubscriptionEnd(db, subscriptionId, retryAt)).run();
};

/** Ends at most 20 due subscriptions per shard. Failures are retried with increasing delays of up to six hours. */
export const endSubscriptions = (platform: Platform): Promise<void> =>
  forEachShard(platform, "subscription-ends", async (db) => {
    const due = await claimSubscriptionEnds(db, platform.clock(), maxPerRun);
    await forEachConcurrently(maxConcurrentConnections, due, (subscriptionEnd) => endDueSubscription(platform, db, subscriptionEnd));
  });
