// The payment provider as operations see it. Money, cards and addresses are on its pages only; what comes back is an address to send
// the browser to.
import type { PurchasablePlan } from "./plans.ts";

export type PaymentProviderResult = { readonly outcome: "url"; readonly url: string } | { readonly outcome: "unavailable" };

/** Never throws: a provider that is away is an outcome. */
export interface PaymentProvider {
  /** A page where the plan is paid for. */
  readonly createCheckout: (request: {
    readonly accountId: string;
    readonly plan: PurchasablePlan;
    /** Of an account that has paid before; null for the first time. */
    readonly customerId: string | null;
    readonly returnUrl: string;
    /** Asked for twice under one key, there is one page: two open pages could be paid twice. */
    readonly onceKey: string;
  }) => Promise<PaymentProviderResult>;
  /** Where a customer settles an invoice, changes the card or ends the subscription. */
  readonly createBillingPortal: (request: { readonly customerId: string; readonly returnUrl: string }) => Promise<PaymentProviderResult>;
  /** Ends a subscription at once: nothing is taken for it any more. One that is over, or that there never was, has ended. */
  readonly cancelSubscription: (subscriptionId: string) => Promise<"ended" | "unavailable">;
}
