// What is known of the payment provider's customers, the events that were taken in, and the accounts they pay for.
import { eq, isNotNull, isNull, lte, sql, type SQL } from "drizzle-orm";
import type { BusinessStatus, Plan } from "../core/access/entitlement.ts";
import { realmOf, type ConsumerPlan } from "../core/billing/plans.ts";
import type { BillingEvent, Standing } from "../core/billing/standing.ts";
import type { AuditChain } from "../core/facts.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { chainOfBusiness } from "./accounts.ts";
import type { Database, Statement } from "./database.ts";
import { violates } from "./faults.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { allOf, existsIn, noneIn } from "./query.ts";
import { billingCustomers, billingEvents, businesses, consumers } from "./schema.ts";

/** `revision` rises with every change, from 1. */
export interface BillingCustomer extends Standing {
  readonly revision: number;
}

const { customerId, accountId, revision, pastDueSince, suspendedAt } = billingCustomers;

export const customerById = async (db: Database, id: string): Promise<BillingCustomer | null> =>
  (await db.select().from(billingCustomers).where(eq(customerId, id)).get()) ?? null;

/** The customer that pays for an account now; null for one that never paid. */
export const customerOfAccount = (db: Database, id: string): Lookup<BillingCustomer | null> =>
  lookup(db, [db.select().from(billingCustomers).where(eq(accountId, id))], ([[row]]) => row ?? null);

export interface BilledBusiness {
  readonly kind: "business";
  readonly id: BusinessId;
  readonly status: BusinessStatus;
  readonly plan: Plan;
  readonly chain: AuditChain;
  readonly revision: number;
  /** For good: an operator closed it, or its person had it deleted. What is paid for it has to end. */
  readonly isOver: boolean;
}
export interface BilledConsumer {
  readonly kind: "consumer";
  readonly id: string;
  readonly plan: ConsumerPlan;
  readonly chain: AuditChain;
  readonly isOver: boolean;
}
export type BilledAccount = BilledBusiness | BilledConsumer;

const billedBusiness = async (db: Database, id: string): Promise<BilledBusiness | null> => {
  const row = await db
    .select({ id: businesses.id, status: businesses.status, plan: businesses.plan, chain: chainOfBusiness, revision: businesses.revision })
    .from(businesses)
    .where(eq(businesses.id, id as BusinessId))
    .get();
  return row === undefined ? null : { kind: "business", ...row, isOver: row.status === "closed" };
};

const billedConsumer = async (db: Database, id: string): Promise<BilledConsumer | null> => {
  const chain = { tag: consumers.auditChain, shard: consumers.auditShard };
  const { plan, erasedAt } = consumers;
  const row = await db.select({ id: consumers.id, plan, erasedAt, chain }).from(consumers).where(eq(consumers.id, id)).get();
  if (row === undefined) return null;
  const { erasedAt: erased, ...consumer } = row;
  return { kind: "consumer", ...consumer, isOver: erased !== null };
};

/** Null for an account that is not here. */
export const billedAccount = (db: Database, id: string): Promise<BilledAccount | null> =>
  realmOf(id) === "business" ? billedBusiness(db, id) : billedConsumer(db, id);

const isUnchanged = (account: BilledAccount): SQL =>
  account.kind === "business"
    ? existsIn(businesses, eq(businesses.id, account.id), eq(businesses.revision, account.revision))
    : existsIn(
        consumers,
        eq(consumers.id, account.id),
        eq(consumers.plan, account.plan),
        account.isOver ? isNotNull(consumers.erasedAt) : isNull(consumers.erasedAt),
      );

/** 0 says that there is no such customer yet. */
const isAtRevision = (id: string, known: number): SQL =>
  known === 0 ? noneIn(billingCustomers, eq(customerId, id)) : existsIn(billingCustomers, eq(customerId, id), eq(revision, known));

/** The row of an event. Without its customer, and so the batch fails, where customer or account moved on since they were read. */
export const insertBillingEvent = (
  db: Database,
  event: BillingEvent,
  read: { readonly revision: number; readonly account: BilledAccount | null },
  now: Instant,
): Statement => {
  const stands = isAtRevision(event.customerId, read.revision);
  const condition = read.account === null ? stands : allOf(stands, isUnchanged(read.account));
  return db.insert(billingEvents).values({
    id: event.id,
    customerId: sql`(select ${event.customerId} where ${condition})`,
    type: event.type,
    at: event.at,
    receivedAt: now,
  });
};

/** Fails, and with it the batch, where customer or account moved on since they were read: the row keeps its customer only if they did not. */
export const standsAsRead = (db: Database, customer: BillingCustomer, account: BilledAccount): Statement =>
  db
    .update(billingCustomers)
    .set({
      customerId: sql`(select ${customer.customerId} where ${allOf(isAtRevision(customer.customerId, customer.revision), isUnchanged(account))})`,
    })
    .where(eq(customerId, customer.customerId));

/** True when the event was taken in before: by its id. */
export const isTakenIn = (error: unknown): boolean => violates(error, "UNIQUE", billingEvents.id);

/** True when customer or account changed between reading and writing, or another customer became the account's. */
export const isOutdatedBilling = (error: unknown): boolean =>
  violates(error, "NOT NULL", billingEvents.customerId) ||
  violates(error, "NOT NULL", billingCustomers.customerId) ||
  violates(error, "UNIQUE", billingCustomers.customerId) ||
  violates(error, "UNIQUE", billingCustomers.accountId);

export const hasTakenIn = async (db: Database, eventId: string): Promise<boolean> =>
  (await db.select({ id: billingEvents.id }).from(billingEvents).where(eq(billingEvents.id, eventId)).get()) !== undefined;

export const putCustomer = (db: Database, standing: Standing, now: Instant): Statement => {
  const { customerId: id, accountId: account, linkedAt, subscriptionId, plan, planAt, paidAt, failedAt } = standing;
  const due = { pastDueSince: standing.pastDueSince, suspendedAt: standing.suspendedAt, endedAt: standing.endedAt };
  const said = { accountId: account, linkedAt, subscriptionId, plan, planAt, paidAt, failedAt, ...due, updatedAt: now };
  return db
    .insert(billingCustomers)
    .values({ customerId: id, ...said, revision: 1 })
    .onConflictDoUpdate({ target: customerId, set: { ...said, revision: sql`${revision} + 1` } });
};

export const setBusinessEntitlement = (
  db: Database,
  id: BusinessId,
  entitlement: { readonly status: BusinessStatus; readonly plan: Plan },
): Statement => db.update(businesses).set(entitlement).where(eq(businesses.id, id));

/** The same, where nothing about the account changed since that revision. */
export const setEntitlementAt = (
  db: Database,
  { id, revision: known }: BilledBusiness,
  entitlement: { readonly status: BusinessStatus; readonly plan: Plan },
) =>
  db
    .update(businesses)
    .set(entitlement)
    .where(allOf(eq(businesses.id, id), eq(businesses.revision, known)));

/** True after `setEntitlementAt`, where it was the one that set it. */
export const hasEntitlement = (
  { id, revision: known }: BilledBusiness,
  entitlement: { readonly status: BusinessStatus; readonly plan: Plan },
): SQL =>
  existsIn(
    businesses,
    eq(businesses.id, id),
    eq(businesses.revision, known + 1),
    eq(businesses.status, entitlement.status),
    eq(businesses.plan, entitlement.plan),
  );

export const setConsumerPlan = (db: Database, id: string, plan: ConsumerPlan): Statement =>
  db.update(consumers).set({ plan }).where(eq(consumers.id, id));

/** Accounts whose first failed payment lies before `since` and that are not suspended for it, the oldest first. */
export const unpaidCustomers = (db: Database, since: Instant, max: number): Promise<readonly BillingCustomer[]> => {
  const isPastDue = existsIn(businesses, eq(sql`${businesses.id}`, accountId), eq(businesses.status, "past_due"));
  const isConsumer = existsIn(consumers, eq(sql`${consumers.id}`, accountId));
  return db
    .select()
    .from(billingCustomers)
    .where(
      allOf(
        isNotNull(pastDueSince),
        lte(pastDueSince, since),
        isNull(suspendedAt),
        isNotNull(accountId),
        sql`(${isPastDue} or ${isConsumer})`,
      ),
    )
    .orderBy(pastDueSince)
    .limit(max)
    .all();
};
