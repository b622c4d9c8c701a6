// Applies an event from the payment provider to an account. One batch writes the customer, the account and the event's ID, so receiving an
// event twice changes nothing. The provider's newest state wins, even if events arrive out of order (core/billing/billing-status.ts).
import {
  resolvePlan,
  resolveBusinessStatus,
  resolveConsumerPlan,
  advanceBillingStatus,
  findRedundantSubscription,
  unlinkAccount,
  type BillingEvent,
  type BillingStatus,
} from "../../../core/billing/billing-status.ts";
import type { EntitlementChange } from "../../../core/billing/domain-events.ts";
import { parsePlan, realmOfAccountId, type AnyPlan } from "../../../core/billing/plans.ts";
import { firstShard } from "../../../core/ids.ts";
import {
  findBillingCustomer,
  hasBillingEvent,
  findBilledAccount,
  findCustomerByAccount,
  insertBillingEvent,
  upsertBillingCustomer,
  isOutdatedBilling,
  isDuplicateBillingEvent,
  type BillingCustomer,
  type BilledAccount,
} from "../../../storage/billing.ts";
import { commit, retryOnConflict } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import {
  requestSubscriptionEnd,
  requestSubscriptionEndForAccount,
  deleteSubscriptionEnd,
} from "../../../storage/outboxes/subscription-ends.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";
import { prepareEntitlementChange } from "./prepare-entitlement-change.ts";

interface CustomerLocation {
  readonly db: Database;
  readonly customer: BillingCustomer | null;
  /** The revision of the customer's row in `db`, or 0 if there is no row yet. */
  readonly revision: number;
}

/**
 * Searches all shards for the customer. `db` is the shard in which to store the customer: the account's shard for a checkout, otherwise the
 * shard where the customer was found, or the first shard if it was not found.
 */
const locateCustomer = async (services: Stores, event: BillingEvent): Promise<CustomerLocation> => {
  const found = await Promise.all(
    services.shards.all().map(async ([, db]) => ({ db, customer: await findBillingCustomer(db, event.customerId) })),
  );
  const known =
    found.find(({ customer }) => customer !== null && customer.accountId !== null) ?? found.find(({ customer }) => customer !== null);
  const db = event.kind === "checkout" ? services.shards.forId(event.accountId) : (known?.db ?? services.shards.get(firstShard));
  return { db, customer: known?.customer ?? null, revision: known?.db === db ? (known.customer?.revision ?? 0) : 0 };
};

const deriveEntitlement = (account: BilledAccount, before: BillingStatus | null, after: BillingStatus): EntitlementChange["after"] => {
  if (account.kind === "business") {
    const plan = parsePlan(resolvePlan(account.plan, before, after), "business") ?? account.plan;
    return { plan, status: resolveBusinessStatus(account.status, before, after) };
  }
  if (account.isOver) return {}; // the account was deleted, so there is nothing to change
  return { plan: parsePlan(resolveConsumerPlan(account.plan, before, after), "consumer") ?? account.plan };
};

/** Makes one attempt. Throws an error that `isOutdatedBilling` recognizes if the customer or account has changed since it was loaded. */
const attemptBillingEvent = async (services: WriteDependencies, event: BillingEvent): Promise<void> => {
  const { db, customer, revision } = await locateCustomer(services, event);
  if (await hasBillingEvent(db, event.id)) return;
  const accountId = event.kind === "checkout" ? event.accountId : (customer?.accountId ?? null);
  const account = accountId === null ? null : await findBilledAccount(db, accountId);
  if (event.kind === "checkout" && account === null) return; // the account does not exist, so ignore the event
  // Until the customer has an account, accept a plan of either realm. `deriveEntitlement` checks the realm later.
  const resolvePlanName = (text: string): AnyPlan | null =>
    accountId === null ? (parsePlan(text, "business") ?? parsePlan(text, "consumer")) : parsePlan(text, realmOfAccountId(accountId));
  const isForeign = event.kind === "checkout" && customer !== null && customer.accountId !== null && customer.accountId !== event.accountId;
  if (isForeign) return; // a customer cannot move to another account, so ignore the event
  const after = advanceBillingStatus(customer, event, resolvePlanName);
  const previousCustomer = event.kind === "checkout" ? await findCustomerByAccount(db, event.accountId) : null;
  const isReplaced = previousCustomer !== null && previousCustomer.customerId !== event.customerId;
  // True if the account was linked to a different customer after this event.
  const isSuperseded = isReplaced && (previousCustomer.linkedAt ?? 0) > event.at;
  const now = services.clock();
  const eventRow = insertBillingEvent(db, event, { revision, account }, now);
  const redundant = event.kind === "checkout" ? findRedundantSubscription(previousCustomer, event) : null;
  const ends =
    event.kind === "checkout" && redundant !== null
      ? [requestSubscriptionEnd(db, { subscriptionId: redundant, accountId: event.accountId, customerId: event.customerId }, now)]
      : [];
  if (after === null || isSuperseded) {
    if (ends.length > 0) await commit(db, services, [eventRow, ...ends], []);
    return;
  }
  const hasEnded = after.endedAt !== null;
  const shouldUnlink = hasEnded && account?.kind === "consumer" && account.isOver;
  const cause = { event_id: event.id, event_type: event.type };
  const change =
    account === null
      ? { statements: [], domainEvents: [] }
      : prepareEntitlementChange(db, account, deriveEntitlement(account, customer, after), cause, now);
  const statements = [
    eventRow,
    ...ends,
    ...(isReplaced ? [upsertBillingCustomer(db, unlinkAccount(previousCustomer), now)] : []),
    upsertBillingCustomer(db, shouldUnlink ? unlinkAccount(after) : after, now),
    ...(account?.isOver === true ? [requestSubscriptionEndForAccount(db, account.id, now)] : []),
    ...(hasEnded && after.subscriptionId !== null ? [deleteSubscriptionEnd(db, after.subscriptionId)] : []),
    ...change.statements,
  ];
  await commit(db, services, statements, change.domainEvents);
};

/** Events for one customer can arrive in bursts of three or four. While one is being applied, attempts for the others can fail. */
const maxAttempts = 5;

/** Applies an event, unless it was applied before. If this throws, the provider must send the event again. */
export const applyBillingEvent = async (services: WriteDependencies, event: BillingEvent): Promise<void> => {
  try {
    const refusal = await retryOnConflict([isOutdatedBilling], () => attemptBillingEvent(services, event), maxAttempts);
    if (refusal !== undefined) throw new Error("billing: the account kept changing");
  } catch (error) {
    if (!isDuplicateBillingEvent(error)) throw error; // otherwise, a concurrent request has applied the same event
  }
};
