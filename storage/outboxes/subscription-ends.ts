// Subscriptions that have to end because their account is over, or pays for another one since. A row stays until the provider has said that there is no such
// subscription any more: it is written with what put an end to it, and never given up.
import { eq, inArray, isNotNull, isNull, lte, sql } from "drizzle-orm";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { Database } from "../database.ts";
import { allOf, query } from "../query.ts";
import { billingCustomers, outbox } from "../schema.ts";

const leaseMs = 2 * minuteMs; // more than a call to the provider takes, and its repeat
const kind = "subscription_end";
const { entityId, topic, attempts, nextAt } = outbox;
const isEnd = eq(outbox.kind, kind);

export interface SubscriptionEnd {
  readonly subscriptionId: string;
  readonly accountId: string;
  /** This one included. */
  readonly attempts: number;
}

/** For the batch that ends an account: what it pays for ends too. Nothing where it pays for nothing, or asked already. */
export const requestEndOfAccount = (db: Database, accountId: string, now: Instant) => {
  const { subscriptionId, accountId: account, customerId, endedAt } = billingCustomers;
  const runs = allOf(eq(account, accountId), isNotNull(subscriptionId), isNull(endedAt));
  return db
    .insert(outbox, "kind", "entityId", "topic", "payload", "nextAt", "createdAt")
    .select(sql`select ${kind}, ${subscriptionId}, ${account}, ${customerId}, ${now}, ${now} from ${billingCustomers} where ${runs}`)
    .onConflictDoNothing();
};

/** For the batch that takes in a checkout: of two subscriptions of one account, this one is nobody's. */
export const requestEndOfSubscription = (
  db: Database,
  end: { readonly subscriptionId: string; readonly accountId: string; readonly customerId: string },
  now: Instant,
) =>
  db
    .insert(outbox)
    .values({ kind, entityId: end.subscriptionId, topic: end.accountId, payload: end.customerId, nextAt: now, createdAt: now })
    .onConflictDoNothing();

/** Takes what has been due longest; of two workers at once, each gets its own. */
export const claimSubscriptionEnds = (db: Database, now: Instant, max: number): Promise<readonly SubscriptionEnd[]> => {
  const { ord } = outbox;
  const due = query
    .select({ ord })
    .from(outbox)
    .where(allOf(isEnd, lte(nextAt, now)))
    .orderBy(nextAt, ord)
    .limit(max);
  return db
    .update(outbox)
    .set({ nextAt: now + leaseMs, attempts: sql`${attempts} + 1` })
    .where(inArray(ord, due))
    .returning({ subscriptionId: entityId, accountId: topic, attempts })
    .all();
};

const isOf = (subscription: string) => allOf(isEnd, eq(entityId, subscription));

/** It is over, or it is not to end any more. */
export const deleteSubscriptionEnd = (db: Database, subscription: string) => db.delete(outbox).where(isOf(subscription));

export const postponeSubscriptionEnd = (db: Database, subscription: string, at: Instant) =>
  db.update(outbox).set({ nextAt: at }).where(isOf(subscription));
