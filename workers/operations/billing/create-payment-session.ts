// Implements GET /v1/billing/checkout.
import type { Session } from "../../../core/access/session.ts";
import type { PaymentProviderResult } from "../../../core/billing/payment-provider.ts";
import type { PurchasablePlan } from "../../../core/billing/plans.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { minuteMs } from "../../../core/time.ts";
import type { BillingDependencies } from "./dependencies.ts";
import { checkPayable, getAccountId, hasSubscription, type PaymentRefusal } from "./payment-access.ts";

/** Requests for the same account and plan in the same ten-minute interval open the same checkout page. */
const pageReuseMs = 10 * minuteMs;

/**
 * Returns the URL of the provider's page: the billing portal for a subscriber, otherwise a checkout. Can return `billing_unavailable` and
 * the errors of `checkPayable`.
 */
export const createPaymentSession = async (
  services: BillingDependencies,
  session: Session,
  plan: PurchasablePlan,
): Promise<Result<string, PaymentRefusal | "billing_unavailable">> => {
  const { paymentProvider: provider, config } = services;
  const payable = await checkPayable(services, session, plan);
  if (!payable.ok) return payable;
  if (provider === null) return refuse("not_found");
  const customer = payable.value;
  const accountId = getAccountId(session);
  const returnUrl = `${config.appUrl}${session.realm === "business" ? "/portal/billing" : "/app/removals"}`;
  const customerId = customer?.customerId ?? null;
  const attempt = [accountId, plan, customerId, customer?.revision, Math.floor(services.clock() / pageReuseMs)];
  const result: PaymentProviderResult =
    customer !== null && hasSubscription(customer)
      ? await provider.createBillingPortal({ customerId: customer.customerId, returnUrl })
      : await provider.createCheckout({ accountId, plan, customerId, returnUrl, onceKey: sha256Hex(attempt.join(" ")) });
  return result.outcome === "url" ? ok(result.url) : refuse("billing_unavailable");
};
