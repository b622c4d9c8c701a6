// Subscriptions that have to end because their account is over, or pays for another one since. A row stays until the provider has said that there is no such
// subscription any more: it is written with what put an end to it, and never given up.
import { eq, isNotNull, isNull, sql } from "drizzle-orm";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { Database, Found } from "../database.ts";
import { allOf } from "../query.ts";
import { billingCustomers, outbox } from "../schema.ts";
import { claimDueRows } from "./claim.ts";

const leaseMs = 2 * minuteMs; // more than a call to the provider takes, and its repeat
const kind = "subscription_end";
const isSubscriptionEnd = eq(outbox.kind, kind);

/** For the batch that ends an account: what it pays for ends too. Nothing where it pays for nothing, or asked already. */
export const requestSubscriptionEndForAccount = (db: Database, accountId: string, now: Instant) => {
  const { subscriptionId, accountId: account, customerId, endedAt } = billingCustomers;
  const runs = allOf(eq(account, accountId), isNotNull(subscriptionId), isNull(endedAt));
  return db
    .insert(outbox, "kind", "entityId", "topic", "payload", "nextAt", "createdAt")
    .select(sql`select ${kind}, ${subscriptionId}, ${account}, ${customerId}, ${now}, ${now} from ${billingCustomers} where ${runs}`)
    .onConflictDoNothing();
};

/** For the batch that takes in a checkout: of two subscriptions of one account, this one is nobody's. */
export const requestSubscriptionEnd = (
  db: Database,
  end: { readonly subscriptionId: string; readonly accountId: string; readonly customerId: string },
  now: Instant,
) =>
  db
    .insert(outbox)
    .values({ kind, entityId: end.subscriptionId, topic: end.accountId, payload: end.customerId, nextAt: now, createdAt: now })
    .onConflictDoNothing();

/** Each with how often it was tried, this time included. */
export const claimSubscriptionEnds = async (db: Database, now: Instant, max: number) => {
  const due = await claimDueRows(db, outbox, { now, leaseMs, max, only: isSubscriptionEnd });
  return due.map(({ entityId, topic, attempts }) => ({ subscriptionId: entityId, accountId: topic, attempts }));
};

export type SubscriptionEnd = Found<typeof claimSubscriptionEnds>[number];

const isEndOfSubscription = (subscription: string) => allOf(isSubscriptionEnd, eq(outbox.entityId, subscription));

/** It is over, or it is not to end any more. */
export const deleteSubscriptionEnd = (db: Database, subscription: string) => db.delete(outbox).where(isEndOfSubscription(subscription));

export const postponeSubscriptionEnd = (db: Database, subscription: string, at: Instant) =>
  db.update(outbox).set({ nextAt: at }).where(isEndOfSubscription(subscription));
