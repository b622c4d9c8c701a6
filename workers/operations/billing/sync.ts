// An event of the payment provider becomes what the account may do. Load, decide, commit, as one batch with the event's id: sent
// twice it does nothing, and whatever the order, the newest word of the provider holds (core/billing/standing.ts).
import { entitlementFacts, type EntitlementChange } from "../../../core/billing/facts.ts";
import { planOf, realmOf, type AnyPlan, type ConsumerPlan } from "../../../core/billing/plans.ts";
import {
  afterEvent,
  consumerPlanAfter,
  idleBeside,
  planAfter,
  statusAfter,
  unlinked,
  type BillingEvent,
  type Standing,
} from "../../../core/billing/standing.ts";
import type { Plan } from "../../../core/access/entitlement.ts";
import type { Fact } from "../../../core/facts.ts";
import type { Instant } from "../../../core/time.ts";
import { firstHome } from "../../../core/ids.ts";
import {
  billedAccount,
  customerById,
  customerOfAccount,
  hasTakenIn,
  insertBillingEvent,
  isOutdatedBilling,
  isTakenIn,
  putCustomer,
  setBusinessEntitlement,
  setConsumerPlan,
  type BilledAccount,
  type BillingCustomer,
} from "../../../storage/billing.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import { deleteSubscriptionEnd, requestEndOfAccount, requestEndOfSubscription } from "../../../storage/outboxes/subscription-ends.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";

interface Place {
  readonly db: Database;
  readonly customer: BillingCustomer | null;
  /** Of the customer's row in this very database; 0 where there is none yet. */
  readonly revision: number;
}

/** Where the customer is known. One that is not waits in the first home; a checkout takes it to the home of its account. */
const placeOf = async (services: Stores, event: BillingEvent): Promise<Place> => {
  const found = await Promise.all(services.homes.all().map(async ([, db]) => ({ db, customer: await customerById(db, event.customerId) })));
  const known =
    found.find(({ customer }) => customer !== null && customer.accountId !== null) ?? found.find(({ customer }) => customer !== null);
  const db = event.kind === "checkout" ? services.homes.of(event.accountId) : (known?.db ?? services.homes.at(firstHome));
  return { db, customer: known?.customer ?? null, revision: known?.db === db ? (known.customer?.revision ?? 0) : 0 };
};

interface Change {
  readonly rows: readonly Statement[];
  readonly facts: readonly Fact[];
}

/** What becomes of an account by itself, as rows and facts; none where it is that already. */
export const entitlementChange = (
  db: Database,
  account: BilledAccount,
  after: EntitlementChange["after"],
  because: EntitlementChange["because"],
  at: Instant,
): Change => {
  const facts = entitlementFacts({ account, after, because, actor: { kind: "system" }, at });
  if (facts.length === 0) return { rows: [], facts };
  const { plan = account.plan } = after;
  if (account.kind === "consumer") return { rows: [setConsumerPlan(db, account.id, plan as ConsumerPlan)], facts };
  const { status = account.status } = after;
  return { rows: [setBusinessEntitlement(db, account.id, { status, plan: plan as Plan })], facts };
};

const entitlementAfter = (account: BilledAccount, before: Standing | null, after: Standing): EntitlementChange["after"] => {
  if (account.kind === "business") {
    const plan = planOf(planAfter(account.plan, before, after), "business") ?? account.plan;
    return { plan, status: statusAfter(account.status, before, after) };
  }
  if (account.isOver) return {}; // nobody is left whose plan it could be
  return { plan: planOf(consumerPlanAfter(account.plan, before, after), "consumer") ?? account.plan };
};

/** Throws where customer or account changed in between: then both are read again. */
const attempt = async (services: Runtime & Stores & Schedules, event: BillingEvent): Promise<"done"> => {
  const { db, customer, revision } = await placeOf(services, event);
  if (await hasTakenIn(db, event.id)) return "done";
  const accountId = event.kind === "checkout" ? event.accountId : (customer?.accountId ?? null);
  const account = accountId === null ? null : await billedAccount(db, accountId);
  if (event.kind === "checkout" && account === null) return "done"; // of no account there ever was
  // of a customer without an account any plan is kept; whether it is one for the account is asked when there is one
  const planNamed = (text: string): AnyPlan | null =>
    accountId === null ? (planOf(text, "business") ?? planOf(text, "consumer")) : planOf(text, realmOf(accountId));
  const isForeign = event.kind === "checkout" && customer !== null && customer.accountId !== null && customer.accountId !== event.accountId;
  if (isForeign) return "done"; // a customer stays with its account
  const after = afterEvent(customer, event, planNamed);
  const former = event.kind === "checkout" ? await customerOfAccount(db, event.accountId) : null;
  const isReplaced = former !== null && former.customerId !== event.customerId;
  const isOutrun = isReplaced && (former.linkedAt ?? 0) > event.at; // the account has a newer customer
  const now = services.clock();
  const taken = insertBillingEvent(db, event, { revision, account }, now);
  const idle = event.kind === "checkout" ? idleBeside(former, event) : null;
  const ends =
    event.kind === "checkout" && idle !== null
      ? [requestEndOfSubscription(db, { subscriptionId: idle, accountId: event.accountId, customerId: event.customerId }, now)]
      : [];
  if (after === null || isOutrun) {
    if (ends.length > 0) await commit(db, services, [taken, ...ends], []);
    return "done";
  }
  const hasEnded = after.endedAt !== null;
  const isForgotten = hasEnded && account?.kind === "consumer" && account.isOver;
  const because = { event_id: event.id, event_type: event.type };
  const change =
    account === null ? { rows: [], facts: [] } : entitlementChange(db, account, entitlementAfter(account, customer, after), because, now);
  const rows = [
    taken,
    ...ends,
    ...(isReplaced ? [putCustomer(db, unlinked(former), now)] : []),
    putCustomer(db, isForgotten ? unlinked(after) : after, now),
    ...(account?.isOver === true ? [requestEndOfAccount(db, account.id, now)] : []),
    ...(hasEnded && after.subscriptionId !== null ? [deleteSubscriptionEnd(db, after.subscriptionId)] : []),
    ...change.rows,
  ];
  await commit(db, services, rows, change.facts);
  return "done";
};

const maxReadings = 5; // events of one customer come in bursts of three or four

/** Takes an event in. Throws what makes the provider send it again; anything else is taken for good, also what changes nothing. */
export const takeInEvent = async (services: Runtime & Stores & Schedules, event: BillingEvent): Promise<void> => {
  try {
    const taken = await retrying([isOutdatedBilling], () => attempt(services, event), maxReadings);
    if (taken !== "done") throw new Error("billing: the account never rests");
  } catch (error) {
    if (!isTakenIn(error)) throw error; // another request has taken it in
  }
};
