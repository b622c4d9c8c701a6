// A fake payment provider that signs events with the provider's own library and responds to API requests.
import Stripe from "stripe";
import { vi } from "vitest";
import { call, type TestResponse, type Call } from "./world.ts";

const webhookSecret = "whsec_of_the_tests_not_a_secret";

const { webhooks } = new Stripe("sk_test_unused");

export const signPayload = (payload: string, { secret = webhookSecret, at = Date.now() } = {}): Promise<string> =>
  webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp: Math.floor(at / 1_000) });

export const sendRawProviderEvent = async (payload: string, signature: string | null, service: Call = call): Promise<TestResponse> =>
  service("/v1/webhooks/stripe", {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", ...(signature !== null && { "stripe-signature": signature }) },
    body: payload,
  });

export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
  readonly livemode?: boolean;
}

export const sendProviderEvent = async (event: ProviderEvent, service: Call = call): Promise<TestResponse> => {
  const payload = JSON.stringify(event);
  return sendRawProviderEvent(payload, await signPayload(payload), service);
};

let count = 0;

/** Returns the IDs of a new customer and subscription, and functions that build the customer's events, dated `minutes` after `beganAt`. */
export const createCustomer = (accountId: string, plan: string, { beganAt = Date.now() - 60 * 60_000 } = {}) => {
  count += 1;
  const [customer, subscription] = [`cus_${count}`, `sub_${count}`];
  const buildEvent = (type: string, minutes: number, object: Readonly<Record<string, unknown>>): ProviderEvent => {
    count += 1;
    return { id: `evt_${count}`, type, created: Math.floor(beganAt / 1_000) + minutes * 60, data: { object }, livemode: false };
  };
  return {
    customer,
    subscription,
    checkout: (minutes: number, change: Readonly<Record<string, unknown>> = {}) =>
      buildEvent("checkout.session.completed", minutes, {
        mode: "subscription",
        customer,
        subscription,
        client_reference_id: accountId,
        payment_status: "paid",
        metadata: { plan },
        ...change,
      }),
    failed: (minutes: number, change: Readonly<Record<string, unknown>> = {}) =>
      buildEvent("invoice.payment_failed", minutes, { customer, parent: { subscription_details: { subscription } }, ...change }),
    paid: (minutes: number, change: Readonly<Record<string, unknown>> = {}) =>
      buildEvent("invoice.paid", minutes, { customer, parent: { subscription_details: { subscription } }, ...change }),
    updated: (minutes: number, status: string, change: Readonly<Record<string, unknown>> = {}) =>
      buildEvent("customer.subscription.updated", minutes, { id: subscription, customer, status, metadata: { plan }, ...change }),
    deleted: (minutes: number, change: Readonly<Record<string, unknown>> = {}) =>
      buildEvent("customer.subscription.deleted", minutes, {
        id: subscription,
        customer,
        status: "canceled",
        metadata: { plan },
        ...change,
      }),
  };
};

export interface ProviderCall {
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly headers: Headers;
}

/**
 * Replaces fetch with a fake of the provider's API until `vi.restoreAllMocks()`. By default, each call returns the URL of a page that the
 * provider hosts.
 */
export const mockProvider = (respond?: (path: string) => Response | Promise<Response>): readonly ProviderCall[] => {
  const calls: ProviderCall[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const { hostname, pathname } = new URL(request.url);
    if (hostname !== "api.stripe.com") throw new Error(`not the provider: ${hostname}`);
    calls.push({ path: pathname, form: Object.fromEntries(new URLSearchParams(await request.text())), headers: request.headers });
    if (respond !== undefined) return respond(pathname);
    const host = pathname === "/v1/checkout/sessions" ? "checkout.stripe.com" : "billing.stripe.com";
    return Response.json({ id: "cs_test", object: "checkout.session", url: `https://${host}/c/pay/cs_test` });
  });
  return calls;
};
