// Ends the subscriptions of accounts that are over, or that pay for another one, in every home: nobody pays for what is gone, nor twice.
// Tried until the provider has said yes; an account that an operator opened again meanwhile keeps what it pays for.
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
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";
import { forEachConcurrently } from "./in-parallel.ts";

const maxPerRun = 20; // a minute
const maxConcurrent = 5; // a Worker may wait for six connections; one stays free
const backoff = { firstMs: minuteMs, maxMs: 6 * 60 * minuteMs };

const endDueSubscription = async (platform: Platform, db: Database, due: SubscriptionEnd): Promise<void> => {
  const { subscriptionId, accountId, attempts } = due;
  const [account, paying] = await Promise.all([findBilledAccount(db, accountId), findCustomerByAccount(db, accountId)]);
  const isInForce = account?.isOver === false && paying?.subscriptionId === subscriptionId;
  const outcome = isInForce ? "kept" : await platform.paymentProvider?.cancelSubscription(subscriptionId);
  const isDone = outcome === "ended" || outcome === "kept";
  const at = platform.clock() + computeRetryDelayMs(backoff, attempts);
  await (isDone ? deleteSubscriptionEnd(db, subscriptionId) : postponeSubscriptionEnd(db, subscriptionId, at)).run();
};

export const endSubscriptions = (platform: Platform): Promise<void> =>
  forEachShard(platform, "subscription ends", async (db) => {
    const due = await claimSubscriptionEnds(db, platform.clock(), maxPerRun);
    await forEachConcurrently(maxConcurrent, due, (one) => endDueSubscription(platform, db, one));
  });
