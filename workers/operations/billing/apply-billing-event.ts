// An event of the payment provider becomes what the account may do. Load, decide, commit, as one batch with the event's id: sent
// twice it does nothing, and whatever the order, the newest word of the provider holds (core/billing/billing-status.ts).
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
  /** Of the customer's row in this very database; 0 where there is none yet. */
  readonly revision: number;
}

/** Where the customer is known. One that is not waits in the first home; a checkout takes it to the home of its account. */
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
  if (account.isOver) return {}; // nobody is left whose plan it could be
  return { plan: parsePlan(resolveConsumerPlan(account.plan, before, after), "consumer") ?? account.plan };
};

/** Throws where customer or account changed in between: then both are read again. */
const attemptBillingEvent = async (services: WriteDependencies, event: BillingEvent): Promise<"done"> => {
  const { db, customer, revision } = await locateCustomer(services, event);
  if (await hasBillingEvent(db, event.id)) return "done";
  const accountId = event.kind === "checkout" ? event.accountId : (customer?.accountId ?? null);
  const account = accountId === null ? null : await findBilledAccount(db, accountId);
  if (event.kind === "checkout" && account === null) return "done"; // of no account there ever was
  // of a customer without an account any plan is kept; whether it is one for the account is asked when there is one
  const planNamed = (text: string): AnyPlan | null =>
    accountId === null ? (parsePlan(text, "business") ?? parsePlan(text, "consumer")) : parsePlan(text, realmOfAccountId(accountId));
  const isForeign = event.kind === "checkout" && customer !== null && customer.accountId !== null && customer.accountId !== event.accountId;
  if (isForeign) return "done"; // a customer stays with its account
  const after = advanceBillingStatus(customer, event, planNamed);
  const former = event.kind === "checkout" ? await findCustomerByAccount(db, event.accountId) : null;
  const isReplaced = former !== null && former.customerId !== event.customerId;
  const isOutrun = isReplaced && (former.linkedAt ?? 0) > event.at; // the account has a newer customer
  const now = services.clock();
  const taken = insertBillingEvent(db, event, { revision, account }, now);
  const idle = event.kind === "checkout" ? findRedundantSubscription(former, event) : null;
  const ends =
    event.kind === "checkout" && idle !== null
      ? [requestSubscriptionEnd(db, { subscriptionId: idle, accountId: event.accountId, customerId: event.customerId }, now)]
      : [];
  if (after === null || isOutrun) {
    if (ends.length > 0) await commit(db, services, [taken, ...ends], []);
    return "done";
  }
  const hasEnded = after.endedAt !== null;
  const isForgotten = hasEnded && account?.kind === "consumer" && account.isOver;
  const because = { event_id: event.id, event_type: event.type };
  const change =
    account === null
      ? { rows: [], facts: [] }
      : prepareEntitlementChange(db, account, deriveEntitlement(account, customer, after), because, now);
  const rows = [
    taken,
    ...ends,
    ...(isReplaced ? [upsertBillingCustomer(db, unlinkAccount(former), now)] : []),
    upsertBillingCustomer(db, isForgotten ? unlinkAccount(after) : after, now),
    ...(account?.isOver === true ? [requestSubscriptionEndForAccount(db, account.id, now)] : []),
    ...(hasEnded && after.subscriptionId !== null ? [deleteSubscriptionEnd(db, after.subscriptionId)] : []),
    ...change.rows,
  ];
  await commit(db, services, rows, change.facts);
  return "done";
};

const maxAttempts = 5;

// events of one customer come in bursts of three or four

/** Takes an event in. Throws what makes the provider send it again; anything else is taken for good, also what changes nothing. */
export const applyBillingEvent = async (services: WriteDependencies, event: BillingEvent): Promise<void> => {
  try {
    const taken = await retryOnConflict([isOutdatedBilling], () => attemptBillingEvent(services, event), maxAttempts);
    if (taken !== "done") throw new Error("billing: the account never rests");
  } catch (error) {
    if (!isDuplicateBillingEvent(error)) throw error; // another request has taken it in
  }
};
