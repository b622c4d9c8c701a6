// Decides which people may pay for a plan.
import type { Session } from "../../../core/access/session.ts";
import { realmByPurchasablePlan, type PurchasablePlan } from "../../../core/billing/plans.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findCustomerByAccount, type BillingCustomer } from "../../../storage/billing.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import type { BillingDependencies } from "./dependencies.ts";

export type PaymentRefusal = "not_found" | "forbidden" | "owner_required" | "business_suspended" | "business_inactive";

/** Checks whether the person can pay for the plan. A business that was suspended because of a missing payment can still pay. */
const canPay = (session: Session, plan: PurchasablePlan, customer: BillingCustomer | null): Result<true, PaymentRefusal> => {
  if (session.realm !== realmByPurchasablePlan[plan]) return refuse("forbidden");
  if (session.realm === "consumer") return ok(true);
  const { status } = session.business;
  if (status === "pending" || status === "closed") return refuse("business_inactive");
  const isSuspendedAsUnpaid = customer !== null && customer.suspendedAt !== null;
  if (status === "suspended" && !isSuspendedAsUnpaid) return refuse("business_suspended");
  return session.role === "owner" ? ok(true) : refuse("owner_required");
};

/** Returns true if the customer has a running subscription to a paid plan. */
export const hasSubscription = ({ endedAt, plan }: BillingCustomer): boolean => endedAt === null && plan !== null && plan !== "free";

export const getAccountId = (session: Session): string => (session.realm === "business" ? session.business.id : session.userId);

/**
 * Checks whether the person can open a payment page. If so, returns the billing customer, or null if there is none yet. Otherwise, returns
 * the first of these errors that applies:
 * - `not_found`: this deployment has no billing
 * - `forbidden`: a plan for the other realm
 * - `business_inactive` or `business_suspended`
 * - `owner_required`
 */
export const checkPayable = (
  services: BillingDependencies,
  session: Session,
  plan: PurchasablePlan,
): Lookup<Result<BillingCustomer | null, PaymentRefusal>> => {
  const accountId = getAccountId(session);
  return findCustomerByAccount(services.shards.forId(accountId), accountId).map((customer) => {
    if (services.paymentProvider === null) return refuse("not_found", "Billing is not available on this deployment.");
    const allowed = canPay(session, plan, customer);
    return allowed.ok ? ok(customer) : allowed;
  });
};
