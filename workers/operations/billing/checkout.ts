// Where somebody who wants to pay is sent: to a checkout, or, with a subscription already, to the page where it is managed, so that
// nobody pays twice. Nothing is stored here; what came of it arrives as an event of the provider.
import type { MemberSession, Session } from "../../../core/access/session.ts";
import type { ProviderAnswer } from "../../../core/billing/payment-provider.ts";
import { purchasable, type PurchasablePlan } from "../../../core/billing/plans.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { minuteMs, type Instant } from "../../../core/time.ts";
import { customerOfAccount, type BillingCustomer } from "../../../storage/billing.ts";
import { together, type Lookup } from "../../../storage/lookups.ts";
import type { Billing, Runtime, Stores } from "../../services.ts";
import { readCertificateMonths } from "../portal/overview.ts";
import { readAccount } from "../portal/profile.ts";

type PayRefusal = "not_found" | "forbidden" | "owner_required" | "business_suspended" | "business_inactive";

/** Clicked again within this time, the same page opens. */
const samePageMs = 10 * minuteMs;

/** Of whom, and whether just now. A business that is suspended because it did not pay may still do that. */
const mayPay = (session: Session, plan: PurchasablePlan, customer: BillingCustomer | null): Result<true, PayRefusal> => {
  if (session.realm !== purchasable[plan]) return refuse("forbidden");
  if (session.realm === "consumer") return ok(true);
  const { status } = session.business;
  if (status === "pending" || status === "closed") return refuse("business_inactive");
  const isSuspendedAsUnpaid = customer !== null && customer.suspendedAt !== null;
  if (status === "suspended" && !isSuspendedAsUnpaid) return refuse("business_suspended");
  return session.role === "owner" ? ok(true) : refuse("owner_required");
};

const accountOf = (session: Session): string => (session.realm === "business" ? session.business.id : session.userId);

const hasSubscription = ({ endedAt, plan }: BillingCustomer): boolean => endedAt === null && plan !== null && plan !== "free";

/** Since when a business is suspended because a payment is missing; null where it is not, or an operator suspended it. */
export const unpaidSince = async (services: Stores, { business }: MemberSession): Promise<Instant | null> =>
  business.status === "suspended" ? ((await customerOfAccount(services.homes.of(business.id), business.id))?.suspendedAt ?? null) : null;

/**
 * Whether somebody could be sent to pay. Refuses, in this order: not_found (nothing is sold here), forbidden (what is sold to the other
 * kind of account), the account's state, owner_required.
 */
const payable = (
  services: Stores & Billing,
  session: Session,
  plan: PurchasablePlan,
): Lookup<Result<BillingCustomer | null, PayRefusal>> => {
  const accountId = accountOf(session);
  return customerOfAccount(services.homes.of(accountId), accountId).map((customer) => {
    if (services.paymentProvider === null) return refuse("not_found", "This deployment sells nothing: it has no billing.");
    const allowed = mayPay(session, plan, customer);
    return allowed.ok ? ok(customer) : allowed;
  });
};

/** What a business's own people see of what it pays for: its account, its certificates by month, and whether this member could pay. */
export const readBilling = async (services: Runtime & Stores & Billing, member: MemberSession) => {
  const [account, months, door] = await together(services.homes.of(member.business.id), [
    readAccount(services, member),
    readCertificateMonths(services, member),
    payable(services, member, "business"),
  ]);
  return { account, months, door };
};

/** The address to send the browser to. Refuses as `payable` does, then billing_unavailable. */
export const openPayment = async (
  services: Runtime & Stores & Billing,
  session: Session,
  plan: PurchasablePlan,
): Promise<Result<string, PayRefusal | "billing_unavailable">> => {
  const { paymentProvider: provider, config } = services;
  const found = await payable(services, session, plan);
  if (!found.ok) return found;
  if (provider === null) return refuse("not_found");
  const customer = found.value;
  const accountId = accountOf(session);
  const returnUrl = `${config.appUrl}${session.realm === "business" ? "/portal/billing" : "/app/removals"}`;
  const customerId = customer?.customerId ?? null;
  const attempt = [accountId, plan, customerId, customer?.revision, Math.floor(services.clock() / samePageMs)];
  const answer: ProviderAnswer =
    customer !== null && hasSubscription(customer)
      ? await provider.openAccount({ customerId: customer.customerId, returnUrl })
      : await provider.openCheckout({ accountId, plan, customerId, returnUrl, onceKey: sha256Hex(attempt.join(" ")) });
  return answer.outcome === "url" ? ok(answer.url) : refuse("billing_unavailable");
};
