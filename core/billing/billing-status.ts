// What the payment provider says of one customer, gathered from its events. They arrive late, twice and in any order, so each thing
// that is said (the plan, the payment, the end) is kept with the provider's own time, and only what is newer replaces it: whatever
// the order, the account ends up with the same plan and status. Of two that bear the same second, the one that arrives later counts.
import type { BusinessStatus } from "../access/entitlement.ts";
import { dayMs, type Instant } from "../time.ts";
import type { AnyPlan } from "./plans.ts";

/** From the first payment that failed until the account is suspended (CONTRACT 11). */
export const gracePeriodMs = 14 * dayMs;

interface BillingEventBase {
  readonly id: string;
  readonly type: string;
  /** The provider's time. */
  readonly at: Instant;
  readonly customerId: string;
  readonly subscriptionId: string | null;
}

/** A checkout that went through: the only event that says whose account a customer is. */
export interface CheckoutEvent extends BillingEventBase {
  readonly kind: "checkout";
  readonly accountId: string;
  readonly plan: AnyPlan;
  /** False where the money is still on its way: then a later event brings the plan. */
  readonly isPaid: boolean;
}

export interface SubscriptionEvent extends BillingEventBase {
  readonly kind: "subscription";
  readonly state: "paid" | "past_due" | "ended" | "unsettled";
  /** As the subscription's metadata spells it. */
  readonly plan: string | null;
}

export interface PaymentEvent extends BillingEventBase {
  readonly kind: "payment";
  readonly isPaid: boolean;
}

export type BillingEvent = CheckoutEvent | SubscriptionEvent | PaymentEvent;

export interface BillingStatus {
  readonly customerId: string;
  /** `biz_…` or `con_…`; null until its checkout is known. */
  readonly accountId: string | null;
  readonly linkedAt: Instant | null;
  readonly subscriptionId: string | null;
  /** The plan last named by the provider. */
  readonly plan: AnyPlan | null;
  readonly planAt: Instant;
  /** Of the last payment that went through, and of the last that failed. */
  readonly paidAt: Instant;
  readonly failedAt: Instant;
  /** Since the first failed payment after the last that went through; where that one arrives late, since the last failed one. */
  readonly pastDueSince: Instant | null;
  /** Since when the account is without its plan because nothing was paid; null also where an operator suspended it. */
  readonly suspendedAt: Instant | null;
  readonly endedAt: Instant | null;
}

const createBillingStatus = (customerId: string): BillingStatus => ({
  customerId,
  accountId: null,
  linkedAt: null,
  subscriptionId: null,
  plan: null,
  planAt: 0,
  paidAt: 0,
  failedAt: 0,
  pastDueSince: null,
  suspendedAt: null,
  endedAt: null,
});

const applyPaid = (standing: BillingStatus, at: Instant): BillingStatus => {
  if (at < standing.paidAt) return standing;
  const isStillDue = standing.failedAt > at;
  return isStillDue
    ? { ...standing, paidAt: at, pastDueSince: (standing.pastDueSince ?? 0) > at ? standing.pastDueSince : standing.failedAt }
    : { ...standing, paidAt: at, pastDueSince: null, suspendedAt: null };
};

const applyPastDue = (standing: BillingStatus, at: Instant): BillingStatus =>
  at < standing.paidAt
    ? standing
    : { ...standing, failedAt: Math.max(at, standing.failedAt), pastDueSince: Math.min(at, standing.pastDueSince ?? at) };

const applyCheckout = (standing: BillingStatus, event: CheckoutEvent): BillingStatus | null => {
  if (standing.accountId !== null && standing.accountId !== event.accountId) return null;
  if (standing.linkedAt !== null && event.at < standing.linkedAt) return null;
  const sameSubscription = standing.subscriptionId === event.subscriptionId || event.subscriptionId === null;
  const isOver = standing.endedAt !== null && sameSubscription && event.at < standing.endedAt;
  const linked = {
    ...standing,
    accountId: event.accountId,
    linkedAt: event.at,
    subscriptionId: event.subscriptionId ?? standing.subscriptionId,
    endedAt: isOver ? standing.endedAt : null,
  };
  if (!event.isPaid || isOver) return linked;
  const planned = event.at < linked.planAt ? linked : { ...linked, plan: event.plan, planAt: event.at };
  return applyPaid(planned, event.at);
};

const applySubscription = (standing: BillingStatus, event: SubscriptionEvent, plan: AnyPlan | null): BillingStatus => {
  if (event.state === "ended") {
    const planAt = Math.max(event.at, standing.planAt);
    return { ...standing, plan: "free", planAt, endedAt: event.at, pastDueSince: null, suspendedAt: null };
  }
  const isNewerPlan = plan !== null && event.state !== "unsettled" && event.at >= standing.planAt;
  const planned = isNewerPlan ? { ...standing, plan, planAt: event.at } : standing;
  if (event.state === "paid") return applyPaid(planned, event.at);
  return event.state === "past_due" ? applyPastDue(planned, event.at) : planned;
};

/**
 * The standing after an event; null where the event changes nothing: it is about another subscription than the one in force, about
 * one that has ended, or a checkout that would take a customer from one account to another. `planNamed` reads the event's plan for
 * the kind of account.
 */
export const advanceBillingStatus = (
  known: BillingStatus | null,
  event: BillingEvent,
  planNamed: (text: string) => AnyPlan | null,
): BillingStatus | null => {
  const standing = known ?? createBillingStatus(event.customerId);
  if (event.kind === "checkout") return applyCheckout(standing, event);
  const isOther = standing.subscriptionId !== null && event.subscriptionId !== null && standing.subscriptionId !== event.subscriptionId;
  if (standing.endedAt !== null || (isOther && standing.accountId !== null)) return null;
  // an end without the name of the subscription, from before the checkout: of an earlier one
  const isNamed = standing.subscriptionId !== null && event.subscriptionId !== null;
  const isEnd = event.kind === "subscription" && event.state === "ended";
  if (isEnd && !isNamed && standing.linkedAt !== null && event.at < standing.linkedAt) return null;
  const followed = { ...standing, subscriptionId: event.subscriptionId ?? standing.subscriptionId };
  if (event.kind === "subscription") return applySubscription(followed, event, event.plan === null ? null : planNamed(event.plan));
  return event.isPaid ? applyPaid(followed, event.at) : applyPastDue(followed, event.at);
};

/** The customer of an earlier checkout, once another one is the account's: nothing it says reaches the account any more. */
export const unlinkAccount = (standing: BillingStatus): BillingStatus => ({ ...standing, accountId: null, linkedAt: null });

/**
 * Of two subscriptions that are paid for one account, the one of the earlier checkout: nobody gets anything for it, so it has to end.
 * `paying` is the customer that the account has. Null where there is no such subscription.
 */
export const findRedundantSubscription = (paying: BillingStatus | null, event: CheckoutEvent): string | null => {
  if (paying === null || event.subscriptionId === null || paying.subscriptionId === event.subscriptionId) return null;
  if ((paying.linkedAt ?? 0) > event.at) return event.subscriptionId;
  return paying.endedAt === null ? paying.subscriptionId : null;
};

/** After fourteen days without a payment. */
export const markSuspended = (standing: BillingStatus, now: Instant): BillingStatus => ({ ...standing, suspendedAt: now });

/**
 * The plan an account gets: the one the provider names, where it names another than before, where somebody has just paid for it, or
 * where the customer has just become the account's. What an operator set stays until then.
 */
export const resolvePlan = (current: AnyPlan, before: BillingStatus | null, after: BillingStatus): AnyPlan => {
  const isCheckout = after.linkedAt !== (before?.linkedAt ?? null);
  return after.plan !== null && (isCheckout || after.plan !== before?.plan) ? after.plan : current;
};

/** What an operator decided, and accounts that are pending or closed, stay as they are. */
export const resolveBusinessStatus = (current: BusinessStatus, before: BillingStatus | null, after: BillingStatus): BusinessStatus => {
  if (current === "pending" || current === "closed") return current;
  if (current === "suspended" && (before?.suspendedAt ?? null) === null) return current;
  if (after.suspendedAt !== null) return "suspended";
  return after.pastDueSince !== null ? "past_due" : "active";
};

/** A consumer has no status: without a payment for fourteen days the plan rests, and comes back with the payment. */
export const resolveConsumerPlan = (current: AnyPlan, before: BillingStatus | null, after: BillingStatus): AnyPlan => {
  if (after.suspendedAt !== null) return "free";
  return (before?.suspendedAt ?? null) !== null && after.plan !== null ? after.plan : resolvePlan(current, before, after);
};

/** Once an operator has set the status: what billing did to it is over, and what was due is not due any more. */
export const clearUnpaidState = (standing: BillingStatus): BillingStatus => ({ ...standing, pastDueSince: null, suspendedAt: null });
