// Dependencies of the operations in this folder.
import type { PaymentProvider } from "../../../core/billing/payment-provider.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** The payment provider. Null in a deployment without billing. */
export interface Payments {
  readonly paymentProvider: PaymentProvider | null;
}

export interface BillingDependencies extends ReadDependencies, Payments {}
