// Subscriptions to cancel because the account was closed or has another subscription. The change that causes the cancellation writes a row
// in the same batch. The row is kept until the payment provider confirms that the subscription has ended.
import { eq, isNotNull, isNull, sql } from "drizzle-orm";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { Database, Found } from "../database.ts";
import { allOf } from "../query.ts";
import { billingCustomers, outbox } from "../schema.ts";
import { claimDueRows } from "./claim.ts";

const leaseMs = 2 * minuteMs; // longer than a call to the provider and its retry
const kind = "subscription_end";
const isSubscriptionEnd = eq(outbox.kind, kind);

/**
 * Returns the statement that requests the end of an account's subscription. Add it to the batch that closes the account. It does nothing if
 * there is no running subscription or its end was already requested.
 */
export const requestSubscriptionEndForAccount = (db: Database, accountId: string, now: Instant) => {
  const { subscriptionId, accountId: account, customerId, endedAt } = billingCustomers;
  const runs = allOf(eq(account, accountId), isNotNull(subscriptionId), isNull(endedAt));
  return db
    .insert(outbox, "kind", "entityId", "topic", "payload", "nextAt", "createdAt")
    .select(sql`select ${kind}, ${subscriptionId}, ${account}, ${customerId}, ${now}, ${now} from ${billingCustomers} where ${runs}`)
    .onConflictDoNothing();
};

/**
 * Returns the statement that requests the end of one of an account's two subscriptions. Add it to the batch that records the second one.
 */
export const requestSubscriptionEnd = (
  db: Database,
  end: { readonly subscriptionId: string; readonly accountId: string; readonly customerId: string },
  now: Instant,
) =>
  db
    .insert(outbox)
    .values({ kind, entityId: end.subscriptionId, topic: end.accountId, payload: end.customerId, nextAt: now, createdAt: now })
    .onConflictDoNothing();

/** Claims up to `max` requests for two minutes. `attempts` includes the attempt that the caller makes now. */
export const claimSubscriptionEnds = async (db: Database, now: Instant, max: number) => {
  const due = await claimDueRows(db, outbox, { now, leaseMs, max, only: isSubscriptionEnd });
  return due.map(({ entityId, topic, attempts }) => ({ subscriptionId: entityId, accountId: topic, attempts }));
};

export type SubscriptionEnd = Found<typeof claimSubscriptionEnds>[number];

const isEndOfSubscription = (subscription: string) => allOf(isSubscriptionEnd, eq(outbox.entityId, subscription));

export const deleteSubscriptionEnd = (db: Database, subscription: string) => db.delete(outbox).where(isEndOfSubscription(subscription));

export const postponeSubscriptionEnd = (db: Database, subscription: string, at: Instant) =>
  db.update(outbox).set({ nextAt: at }).where(isEndOfSubscription(subscription));
