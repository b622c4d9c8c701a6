import type { Session } from "../../../core/access/session.ts";
import type { PaymentProviderResult } from "../../../core/billing/payment-provider.ts";
import type { PurchasablePlan } from "../../../core/billing/plans.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { minuteMs } from "../../../core/time.ts";
import type { BillingCustomer } from "../../../storage/billing.ts";
import type { BillingDependencies } from "./dependencies.ts";
import { checkPayable, getAccountId, type PaymentRefusal } from "./payment-access.ts";

/** Clicked again within this time, the same page opens. */
const pageReuseMs = 10 * minuteMs;

const hasSubscription = ({ endedAt, plan }: BillingCustomer): boolean => endedAt === null && plan !== null && plan !== "free";

/** The address to send the browser to. Refuses as `payable` does, then billing_unavailable. */
export const createPaymentSession = async (
  services: BillingDependencies,
  session: Session,
  plan: PurchasablePlan,
): Promise<Result<string, PaymentRefusal | "billing_unavailable">> => {
  const { paymentProvider: provider, config } = services;
  const found = await checkPayable(services, session, plan);
  if (!found.ok) return found;
  if (provider === null) return refuse("not_found");
  const customer = found.value;
  const accountId = getAccountId(session);
  const returnUrl = `${config.appUrl}${session.realm === "business" ? "/portal/billing" : "/app/removals"}`;
  const customerId = customer?.customerId ?? null;
  const attempt = [accountId, plan, customerId, customer?.revision, Math.floor(services.clock() / pageReuseMs)];
  const answer: PaymentProviderResult =
    customer !== null && hasSubscription(customer)
      ? await provider.createBillingPortal({ customerId: customer.customerId, returnUrl })
      : await provider.createCheckout({ accountId, plan, customerId, returnUrl, onceKey: sha256Hex(attempt.join(" ")) });
  return answer.outcome === "url" ? ok(answer.url) : refuse("billing_unavailable");
};
