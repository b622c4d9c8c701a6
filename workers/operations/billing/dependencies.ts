// What the operations of this folder depend on.
import type { PaymentProvider } from "../../../core/billing/payment-provider.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** The payment provider; null where nothing is sold. */
export interface Payments {
  readonly paymentProvider: PaymentProvider | null;
}

export interface BillingDependencies extends ReadDependencies, Payments {}
