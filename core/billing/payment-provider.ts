// The interface to the payment provider. Customers enter payment details and billing addresses only on the provider's pages, to which the
// service links.
import type { PurchasablePlan } from "./plans.ts";

export type PaymentProviderResult = { readonly outcome: "url"; readonly url: string } | { readonly outcome: "unavailable" };

/** Methods never throw. If the provider cannot be reached, they return `unavailable`. */
export interface PaymentProvider {
  /** Creates a payment page for the plan. */
  readonly createCheckout: (request: {
    readonly accountId: string;
    readonly plan: PurchasablePlan;
    /** The customer, if the account has paid before; null for a first payment. */
    readonly customerId: string | null;
    readonly returnUrl: string;
    /** The idempotency key. Calls with the same key return the same page, so the customer cannot pay twice. */
    readonly onceKey: string;
  }) => Promise<PaymentProviderResult>;
  /** Creates a page where a customer pays invoices, changes the card or cancels the subscription. */
  readonly createBillingPortal: (request: { readonly customerId: string; readonly returnUrl: string }) => Promise<PaymentProviderResult>;
  /** Cancels a subscription immediately. Also returns `ended` if the subscription has already ended or never existed. */
  readonly cancelSubscription: (subscriptionId: string) => Promise<"ended" | "unavailable">;
}
