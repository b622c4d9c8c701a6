// The payment provider's customers and events, and the accounts that the customers pay for.
import { eq, isNotNull, isNull, lte, sql, type SQL } from "drizzle-orm";
import { realmOfAccountId, type ConsumerPlan } from "../core/billing/plans.ts";
import type { BillingEvent, BillingStatus } from "../core/billing/billing-status.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import type { Database, Found, Statement } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { consumerChainFields } from "./people.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf, existsIn, inRandomOrder, notExistsIn } from "./query.ts";
import { billingCustomers, billingEvents, businesses, consumers } from "./schema.ts";

/** A customer with its billing status. `revision` starts at 1 and increases with every change. */
export interface BillingCustomer extends BillingStatus {
  readonly revision: number;
}

const { customerId, accountId, revision, pastDueSince, suspendedAt } = billingCustomers;

/** Finds a customer by the provider's ID. Returns null if the ID is unknown. */
export const findBillingCustomer = async (db: Database, id: string): Promise<BillingCustomer | null> =>
  (await db.select().from(billingCustomers).where(eq(customerId, id)).get()) ?? null;

/** Finds the customer that pays for an account. Returns null if the account has no customer. */
export const findCustomerByAccount = (db: Database, id: string): Lookup<BillingCustomer | null> =>
  createLookup(db, [db.select().from(billingCustomers).where(eq(accountId, id))], ([[row]]) => row ?? null);

/** Finds a business with its billing data. `isOver` is true if an operator has closed the business. Its subscription must then end. */
const findBilledBusiness = async (db: Database, id: string) => {
  const row = await db
    .select({
      id: businesses.id,
      status: businesses.status,
      plan: businesses.plan,
      chain: businessChainFields,
      revision: businesses.revision,
    })
    .from(businesses)
    .where(eq(businesses.id, id as BusinessId))
    .get();
  return row === undefined ? null : { kind: "business" as const, ...row, isOver: row.status === "closed" };
};
export type BilledBusiness = Found<typeof findBilledBusiness>;

/** Finds a consumer with their billing data. `isOver` is true if the person has deleted the account. The subscription must then end. */
const findBilledConsumer = async (db: Database, id: string) => {
  const { plan, erasedAt } = consumers;
  const isOver = sql`${erasedAt} is not null`.mapWith(Boolean);
  const row = await db
    .select({ id: consumers.id, plan, isOver, chain: consumerChainFields })
    .from(consumers)
    .where(eq(consumers.id, id))
    .get();
  return row === undefined ? null : { kind: "consumer" as const, ...row };
};

export type BilledAccount = BilledBusiness | Found<typeof findBilledConsumer>;

/** Finds an account by its ID, with its billing data. Returns null if the account is not in this shard. */
export const findBilledAccount = (db: Database, id: string): Promise<BilledAccount | null> =>
  realmOfAccountId(id) === "business" ? findBilledBusiness(db, id) : findBilledConsumer(db, id);

const isAccountUnchanged = (account: BilledAccount): SQL =>
  account.kind === "business"
    ? existsIn(businesses, eq(businesses.id, account.id), eq(businesses.revision, account.revision))
    : existsIn(
        consumers,
        eq(consumers.id, account.id),
        eq(consumers.plan, account.plan),
        account.isOver ? isNotNull(consumers.erasedAt) : isNull(consumers.erasedAt),
      );

/** Builds a condition that is true if the customer has this revision. Revision 0 means that the customer does not exist yet. */
const isAtRevision = (id: string, known: number): SQL =>
  known === 0 ? notExistsIn(billingCustomers, eq(customerId, id)) : existsIn(billingCustomers, eq(customerId, id), eq(revision, known));

/**
 * Returns the statement that inserts a billing event, for the batch that applies the event. If the customer or account has changed since it
 * was read, the customer ID is NULL, and the batch fails (`isOutdatedBilling`).
 */
export const insertBillingEvent = (
  db: Database,
  event: BillingEvent,
  read: { readonly revision: number; readonly account: BilledAccount | null },
  now: Instant,
): Statement => {
  const isCurrent = isAtRevision(event.customerId, read.revision);
  const condition = read.account === null ? isCurrent : allOf(isCurrent, isAccountUnchanged(read.account));
  return db.insert(billingEvents).values({
    id: event.id,
    customerId: sql`(select ${event.customerId} where ${condition})`,
    type: event.type,
    at: event.at,
    receivedAt: now,
  });
};

/**
 * Returns a statement that makes the batch fail if the customer or account has changed since it was read. Unlike `insertBillingEvent`, it
 * inserts no event.
 */
export const assertUnchanged = (db: Database, customer: BillingCustomer, account: BilledAccount): Statement =>
  db
    .update(billingCustomers)
    .set({
      customerId: sql`(select ${customer.customerId} where ${allOf(isAtRevision(customer.customerId, customer.revision), isAccountUnchanged(account))})`,
    })
    .where(eq(customerId, customer.customerId));

/** Returns true if the batch failed because an event with this ID is already recorded. */
export const isDuplicateBillingEvent = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", billingEvents.id);

/** Returns true if the batch failed because the customer or account has changed, or because another customer was linked to the account. */
export const isOutdatedBilling = (error: unknown): boolean =>
  isConstraintViolation(error, "NOT NULL", billingEvents.customerId) ||
  isConstraintViolation(error, "NOT NULL", billingCustomers.customerId) ||
  isConstraintViolation(error, "UNIQUE", billingCustomers.customerId) ||
  isConstraintViolation(error, "UNIQUE", billingCustomers.accountId);

export const hasBillingEvent = async (db: Database, eventId: string): Promise<boolean> =>
  (await db.select({ id: billingEvents.id }).from(billingEvents).where(eq(billingEvents.id, eventId)).get()) !== undefined;

/** Inserts or updates a customer. An update increases the revision. */
export const upsertBillingCustomer = (db: Database, status: BillingStatus, now: Instant): Statement => {
  const row = { ...status, updatedAt: now };
  return db
    .insert(billingCustomers)
    .values({ ...row, revision: 1 })
    .onConflictDoUpdate({ target: customerId, set: { ...row, revision: sql`${revision} + 1` } });
};

type Entitlement = Pick<BilledBusiness, "status" | "plan">;

export const updateBusinessEntitlement = (db: Database, id: BusinessId, entitlement: Entitlement): Statement =>
  db.update(businesses).set(entitlement).where(eq(businesses.id, id));

/** Like `updateBusinessEntitlement`, but does nothing if the account has changed since it was read. */
export const updateEntitlementAtRevision = (db: Database, { id, revision: known }: BilledBusiness, entitlement: Entitlement) =>
  db
    .update(businesses)
    .set(entitlement)
    .where(allOf(eq(businesses.id, id), eq(businesses.revision, known)));

/** Builds a condition for statements after `updateEntitlementAtRevision`. It is true if the account was changed by that statement. */
export const hasEntitlement = ({ id, revision: known }: BilledBusiness, entitlement: Entitlement): SQL =>
  existsIn(
    businesses,
    eq(businesses.id, id),
    eq(businesses.revision, known + 1),
    eq(businesses.status, entitlement.status),
    eq(businesses.plan, entitlement.plan),
  );

export const updateConsumerPlan = (db: Database, id: string, plan: ConsumerPlan): Statement =>
  db.update(consumers).set({ plan }).where(eq(consumers.id, id));

/**
 * Lists up to `max` customers whose payments have been failing since `since` or earlier, in random order. Omits customers whose account is
 * already suspended for that reason.
 */
export const listUnpaidCustomers = (db: Database, since: Instant, max: number): Promise<readonly BillingCustomer[]> => {
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
    .orderBy(inRandomOrder)
    .limit(max)
    .all();
};
