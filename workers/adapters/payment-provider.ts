// Opens Stripe's checkout and billing portal through Stripe's library, which handles API versions, retries and idempotency keys. Sends no
// personal data: customers enter their name and address on Stripe's pages.
import Stripe from "stripe";
import type { PaymentProvider, PaymentProviderResult } from "../../core/billing/payment-provider.ts";
import { secondMs } from "../../core/time.ts";
import type { BillingSettings } from "../env.ts";

const requestTimeoutMs = 8 * secondMs; // a customer is waiting for the page to open

/** Customers are redirected only to these hosts and, in development, to the mock. */
const pageHosts: ReadonlySet<string> = new Set(["checkout.stripe.com", "billing.stripe.com"]);

const isAllowedPageUrl = (address: string, api: URL | null): boolean => {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return (url.protocol === "https:" && url.port === "" && pageHosts.has(url.hostname)) || (api !== null && url.origin === api.origin);
};

/** Returns only the error type, because the provider's error message can quote the request. */
const describeProviderError = (error: unknown): string => (error instanceof Stripe.errors.StripeError ? error.type : "network");

/**
 * Creates the payment provider. Its methods never throw. Before a method returns `unavailable`, it calls `report` with the error type, or
 * with `address` if the provider returned no URL or a URL on another host.
 */
export const createStripeProvider = (settings: BillingSettings, report: (fault: string) => void): PaymentProvider => {
  const { apiUrl } = settings;
  // The type has only the parts of the API that we call, because the bundle leaves out most others (`alias` in wrangler.toml).
  const stripe: Pick<Stripe, "checkout" | "billingPortal" | "subscriptions"> = new Stripe(settings.secretKey, {
    httpClient: Stripe.createFetchHttpClient((input, init) => fetch(input, init)),
    timeout: requestTimeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(apiUrl !== null && { host: apiUrl.hostname, port: apiUrl.port, protocol: apiUrl.protocol === "http:" ? "http" : "https" }),
  });
  const toPageUrl = async (session: Promise<{ readonly url: string | null }>): Promise<PaymentProviderResult> => {
    try {
      const { url } = await session;
      if (url !== null && isAllowedPageUrl(url, apiUrl)) return { outcome: "url", url };
      report("address");
    } catch (error) {
      report(describeProviderError(error));
    }
    return { outcome: "unavailable" };
  };
  return {
    createCheckout: ({ accountId, plan, customerId, returnUrl, onceKey }) =>
      toPageUrl(
        stripe.checkout.sessions.create(
          {
            mode: "subscription",
            line_items: [{ price: settings.prices[plan], quantity: 1 }],
            client_reference_id: accountId,
            metadata: { plan },
            subscription_data: { metadata: { plan } },
            success_url: returnUrl,
            cancel_url: returnUrl,
            ...(customerId !== null && { customer: customerId }),
          },
          { idempotencyKey: onceKey },
        ),
      ),
    createBillingPortal: ({ customerId, returnUrl }) =>
      toPageUrl(stripe.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl })),
    cancelSubscription: async (subscriptionId) => {
      try {
        // Send no idempotency key: Stripe would repeat the saved response, even if it is an error.
        await stripe.subscriptions.cancel(subscriptionId);
        return "ended";
      } catch (error) {
        if (error instanceof Stripe.errors.StripeError && error.code === "resource_missing") return "ended";
        report(describeProviderError(error));
        return "unavailable";
      }
    },
  };
};
