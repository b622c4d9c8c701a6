// One customer's billing status, derived from the payment provider's events. Events can arrive late, repeatedly and in any order, so each
// value is stored with the provider's time, and only newer values replace it. The order of arrival matters only for two events with the
// same timestamp (in seconds): the one that arrives later is used.
import type { BusinessStatus } from "../access/entitlement.ts";
import { dayMs, type Instant } from "../time.ts";
import type { AnyPlan } from "./plans.ts";

/** The time from the first failed payment until the account is suspended. */
export const gracePeriodMs = 14 * dayMs;

interface BillingEventBase {
  readonly id: string;
  readonly type: string;
  /** The time of the event, as reported by the provider. */
  readonly at: Instant;
  readonly customerId: string;
  readonly subscriptionId: string | null;
}

/** A completed checkout, the only event that links a customer to an account. */
export interface CheckoutEvent extends BillingEventBase {
  readonly kind: "checkout";
  readonly accountId: string;
  readonly plan: AnyPlan;
  /** False while the payment is still pending. The plan is then set by a later event. */
  readonly isPaid: boolean;
}

export interface SubscriptionEvent extends BillingEventBase {
  readonly kind: "subscription";
  /**
   * `inactive`: the subscription is paused, is not billed, has no items, or stayed unpaid until the provider stopped retrying. While it is
   * inactive, the account has the free plan. It can become active again.
   */
  readonly state: "paid" | "past_due" | "inactive" | "ended" | "unsettled";
  /** The plan name in the subscription's metadata. */
  readonly plan: string | null;
}

export interface PaymentEvent extends BillingEventBase {
  readonly kind: "payment";
  readonly isPaid: boolean;
}

export type BillingEvent = CheckoutEvent | SubscriptionEvent | PaymentEvent;

export interface BillingStatus {
  readonly customerId: string;
  /** The account, `biz_…` or `con_…`; null until the checkout event arrives. */
  readonly accountId: string | null;
  readonly linkedAt: Instant | null;
  readonly subscriptionId: string | null;
  /** The plan that the provider reported most recently. */
  readonly plan: AnyPlan | null;
  readonly planAt: Instant;
  /** The times of the last successful and the last failed payment; 0 if there was none. */
  readonly paidAt: Instant;
  readonly failedAt: Instant;
  /**
   * The time of the first failed payment since the last successful one. If the successful payment was reported late, this can be the time
   * of the last failed payment instead.
   */
  readonly pastDueSince: Instant | null;
  /**
   * When the account or, for a consumer, the paid plan was suspended because a payment was past due. It stays null if an operator suspended
   * the account.
   */
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

const applyPaid = (status: BillingStatus, at: Instant): BillingStatus => {
  if (at < status.paidAt) return status;
  const isStillDue = status.failedAt > at;
  return isStillDue
    ? { ...status, paidAt: at, pastDueSince: (status.pastDueSince ?? 0) > at ? status.pastDueSince : status.failedAt }
    : { ...status, paidAt: at, pastDueSince: null, suspendedAt: null };
};

const applyPastDue = (status: BillingStatus, at: Instant): BillingStatus =>
  at < status.paidAt
    ? status
    : { ...status, failedAt: Math.max(at, status.failedAt), pastDueSince: Math.min(at, status.pastDueSince ?? at) };

const applyCheckout = (status: BillingStatus, event: CheckoutEvent): BillingStatus | null => {
  if (status.accountId !== null && status.accountId !== event.accountId) return null;
  if (status.linkedAt !== null && event.at < status.linkedAt) return null;
  const sameSubscription = status.subscriptionId === event.subscriptionId || event.subscriptionId === null;
  const isOver = status.endedAt !== null && sameSubscription && event.at < status.endedAt;
  const linked = {
    ...status,
    accountId: event.accountId,
    linkedAt: event.at,
    subscriptionId: event.subscriptionId ?? status.subscriptionId,
    endedAt: isOver ? status.endedAt : null,
  };
  if (!event.isPaid || isOver) return linked;
  const planned = event.at < linked.planAt ? linked : { ...linked, plan: event.plan, planAt: event.at };
  return applyPaid(planned, event.at);
};

const applySubscription = (status: BillingStatus, event: SubscriptionEvent, plan: AnyPlan | null): BillingStatus => {
  if (event.state === "ended") {
    const planAt = Math.max(event.at, status.planAt);
    return { ...status, plan: "free", planAt, endedAt: event.at, pastDueSince: null, suspendedAt: null };
  }
  if (event.state === "inactive")
    return event.at < status.planAt ? status : { ...status, plan: "free", planAt: event.at, suspendedAt: null };
  const isNewerPlan = plan !== null && event.state !== "unsettled" && event.at >= status.planAt;
  const planned = isNewerPlan ? { ...status, plan, planAt: event.at } : status;
  if (event.state === "paid") return applyPaid(planned, event.at);
  return event.state === "past_due" ? applyPastDue(planned, event.at) : planned;
};

/**
 * Returns the status after an event, or null if the event must be ignored. A subscription or payment event is ignored if its subscription
 * has ended or is not the current one. A checkout is ignored if it is older than the checkout that linked the customer to the account, or
 * if it would move a customer to another account. `parsePlanName` returns the plan that a name refers to, or null if the account cannot
 * have such a plan.
 */
export const advanceBillingStatus = (
  known: BillingStatus | null,
  event: BillingEvent,
  parsePlanName: (text: string) => AnyPlan | null,
): BillingStatus | null => {
  const status = known ?? createBillingStatus(event.customerId);
  if (event.kind === "checkout") return applyCheckout(status, event);
  const isOther = status.subscriptionId !== null && event.subscriptionId !== null && status.subscriptionId !== event.subscriptionId;
  if (status.endedAt !== null || (isOther && status.accountId !== null)) return null;
  // A late report that a subscription has ended must not end a newer one. If either subscription ID is missing, a report that is older than
  // the checkout is ignored.
  const isNamed = status.subscriptionId !== null && event.subscriptionId !== null;
  const isEnd = event.kind === "subscription" && event.state === "ended";
  if (isEnd && !isNamed && status.linkedAt !== null && event.at < status.linkedAt) return null;
  const updated = { ...status, subscriptionId: event.subscriptionId ?? status.subscriptionId };
  if (event.kind === "subscription") return applySubscription(updated, event, event.plan === null ? null : parsePlanName(event.plan));
  return event.isPaid ? applyPaid(updated, event.at) : applyPastDue(updated, event.at);
};

/**
 * Unlinks a customer from the account. Called when another customer starts to pay for the account, or when the subscription of a deleted
 * account ends. Later events for the unlinked customer do not affect the account.
 */
export const unlinkAccount = (status: BillingStatus): BillingStatus => ({ ...status, accountId: null, linkedAt: null });

/**
 * If two subscriptions pay for one account, returns the ID of the one with the earlier checkout, which the caller must cancel. Otherwise
 * returns null. `paying` is the customer currently linked to the account.
 */
export const findRedundantSubscription = (paying: BillingStatus | null, event: CheckoutEvent): string | null => {
  if (paying === null || event.subscriptionId === null || paying.subscriptionId === event.subscriptionId) return null;
  if ((paying.linkedAt ?? 0) > event.at) return event.subscriptionId;
  return paying.endedAt === null ? paying.subscriptionId : null;
};

/** Marks the status as suspended. Called when a payment has been past due for 14 days. */
export const markSuspended = (status: BillingStatus, now: Instant): BillingStatus => ({ ...status, suspendedAt: now });

/**
 * Returns the account's plan. If the provider's plan changed, or if a checkout just linked the account, this is the provider's plan.
 * Otherwise it is the current plan, which an operator may have set.
 */
export const resolvePlan = (current: AnyPlan, before: BillingStatus | null, after: BillingStatus): AnyPlan => {
  const isCheckout = after.linkedAt !== (before?.linkedAt ?? null);
  return after.plan !== null && (isCheckout || after.plan !== before?.plan) ? after.plan : current;
};

/**
 * Returns whether a payment is past due. Without a paid plan, no payment is past due, even if the provider is still trying to collect one.
 */
const isPastDue = ({ pastDueSince, plan }: BillingStatus): boolean => pastDueSince !== null && plan !== null && plan !== "free";

/** Returns the account's new status. Pending and closed accounts, and accounts that an operator suspended, keep their status. */
export const resolveBusinessStatus = (current: BusinessStatus, before: BillingStatus | null, after: BillingStatus): BusinessStatus => {
  if (current === "pending" || current === "closed") return current;
  if (current === "suspended" && (before?.suspendedAt ?? null) === null) return current;
  if (after.suspendedAt !== null) return "suspended";
  return isPastDue(after) ? "past_due" : "active";
};

/**
 * Returns a consumer's plan. Consumers have no status. When a payment has been past due for 14 days, the plan becomes `free` instead. A
 * payment restores the paid plan.
 */
export const resolveConsumerPlan = (current: AnyPlan, before: BillingStatus | null, after: BillingStatus): AnyPlan => {
  if (after.suspendedAt !== null) return "free";
  return (before?.suspendedAt ?? null) !== null && after.plan !== null ? after.plan : resolvePlan(current, before, after);
};

/** Clears the past-due and suspended states after an operator has set the status. */
export const clearUnpaidState = (status: BillingStatus): BillingStatus => ({ ...status, pastDueSince: null, suspendedAt: null });
