// A local mock of the payment provider. It handles the API calls that the service makes, shows two pages with a button for each change to a
// subscription, and sends the signed events that follow each change. No money moves and nothing is stored on disk. DEV_STRIPE_API, which
// points the service to this mock, is refused outside development.
import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { escapeHtml } from "../../core/mail/message.ts";

export interface PaymentProviderMock {
  readonly origin: string;
  readonly serviceOrigin: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** DEV_CLOCK_OFFSET_MS. The service checks signature times against its own clock, which this setting shifts. */
  readonly clockOffsetMs: number;
}

type Form = ReadonlyMap<string, string>;
type Event = readonly [type: string, object: Readonly<Record<string, unknown>>];

/** Unpaid checkouts by ID. The two maps below contain each customer's return URL and plan. */
const checkouts = new Map<string, Form>();
const returnUrls = new Map<string, string>();
const plans = new Map<string, string>();

const renderMockPage = (title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Payment provider mock</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/site.css">
</head>
<body>
<header class="frame"><span class="name">Payment provider mock</span></header>
<main class="frame">
<div><h1>${escapeHtml(title)}</h1>
<p class="lead">This page simulates the payment provider. It runs on this machine, and no money moves.</p></div>
${main}
</main>
</body>
</html>
`;

const renderFacts = (rows: Readonly<Record<string, string>>): string =>
  `<table><tbody>${Object.entries(rows)
    .map(([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`)
    .join("")}</tbody></table>`;

const renderBackLink = (address: string): string => `<p><a href="${escapeHtml(address)}">Cancel</a></p>`;

/** Renders a form with one button per action. */
const renderForm = (action: string, rows: Readonly<Record<string, string>>, buttons: Readonly<Record<string, string>>): string =>
  `<form method="post" action="${escapeHtml(action)}">
${renderFacts(rows)}
${Object.entries(buttons)
  .map(([name, text]) => `<button name="do" value="${name}">${text}</button>`)
  .join("\n")}
</form>`;

const renderCheckoutPage = (id: string, checkout: Form): string =>
  renderMockPage(
    "Pay for a plan",
    `${renderForm(`/pay/${id}`, { Plan: checkout.get("metadata[plan]") ?? "", Account: checkout.get("client_reference_id") ?? "" }, { pay: "Pay" })}
${renderBackLink(checkout.get("cancel_url") ?? "/")}`,
  );

const renderCustomerPage = (customer: string): string =>
  renderMockPage(
    "Your subscription",
    `${renderForm(
      `/pay/account/${customer}`,
      { Customer: customer, Plan: plans.get(customer) ?? "unchanged" },
      {
        fail: "Fail the next payment",
        pay: "Pay the open invoice",
        enterprise: "Change plan to enterprise",
        end: "Cancel subscription",
      },
    )}
${renderBackLink(returnUrls.get(customer) ?? "/")}`,
  );

/** Builds a subscription with only the fields that the service reads. */
const buildSubscription = (customer: string, status: string): Event[1] => {
  const plan = plans.get(customer);
  return { id: customer.replace(/^cus_/, "sub_"), customer, status, metadata: plan === undefined ? {} : { plan } };
};
const buildInvoice = (customer: string): Event[1] => ({
  customer,
  parent: { subscription_details: { subscription: customer.replace(/^cus_/, "sub_") } },
});

const subscriptionEndedEvents = (customer: string): readonly [Event] => [
  ["customer.subscription.deleted", buildSubscription(customer, "canceled")],
];

/** The events that the provider sends after each button is pressed. */
const eventsByAction: Readonly<Record<string, (customer: string) => readonly Event[]>> = {
  fail: (customer) => [
    ["invoice.payment_failed", buildInvoice(customer)],
    ["customer.subscription.updated", buildSubscription(customer, "past_due")],
  ],
  pay: (customer) => [
    ["invoice.paid", buildInvoice(customer)],
    ["customer.subscription.updated", buildSubscription(customer, "active")],
  ],
  enterprise: (customer) => {
    plans.set(customer, "enterprise");
    return [["customer.subscription.updated", buildSubscription(customer, "active")]];
  },
  end: subscriptionEndedEvents,
};

const sendEvents = async (provider: PaymentProviderMock, events: readonly Event[]): Promise<void> => {
  for (const [type, object] of events) {
    const created = Math.floor((Date.now() + provider.clockOffsetMs) / 1_000);
    const body = JSON.stringify({
      id: `evt_${randomBytes(12).toString("hex")}`,
      object: "event",
      type,
      created,
      livemode: false,
      data: { object },
    });
    const signature = createHmac("sha256", provider.webhookSecret).update(`${created}.${body}`).digest("hex");
    const { ok, status } = await fetch(`${provider.serviceOrigin}/v1/webhooks/stripe`, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": `t=${created},v1=${signature}` },
      body,
    });
    if (!ok) throw new Error(`the service answered ${status} to ${type}`);
  }
};

/** Completes a checkout for its existing customer or for a new customer, and sends the events. */
const payCheckout = async (provider: PaymentProviderMock, checkout: Form): Promise<void> => {
  const customer = checkout.get("customer") ?? `cus_${randomBytes(8).toString("hex")}`;
  const plan = checkout.get("metadata[plan]") ?? "";
  plans.set(customer, plan);
  const subscription = buildSubscription(customer, "active");
  const session = {
    mode: "subscription",
    customer,
    subscription: subscription.id,
    client_reference_id: checkout.get("client_reference_id"),
    payment_status: "paid",
    metadata: { plan },
  };
  await sendEvents(provider, [
    ["checkout.session.completed", session],
    ["customer.subscription.updated", subscription],
    ["invoice.paid", buildInvoice(customer)],
  ]);
};

/**
 * Handles requests for the provider's paths. Returns false for any other path, and for a checkout that does not exist or is already paid.
 */
export const handleProviderRequest = async (
  provider: PaymentProviderMock,
  request: IncomingMessage,
  response: ServerResponse,
  entries: () => Promise<readonly (readonly [string, string])[] | null>,
): Promise<boolean> => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const json = (status: number, body: object): true => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
  const html = (text: string, status = 200): true => {
    const policy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";
    response.writeHead(status, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy }).end(text);
    return true;
  };
  const redirectTo = (address: string): true => {
    response.writeHead(303, { location: address }).end();
    return true;
  };
  const isPost = request.method === "POST";
  const refuse = (status: number, type: string, message: string, code?: string): true => json(status, { error: { type, code, message } });
  /** Refuses a call with a wrong method or key. Returns null if the call is valid. */
  const refusal = (method: string): true | null => {
    if (request.method !== method) return refuse(405, "invalid_request_error", `${method} only`);
    const hasKey = request.headers.authorization === `Bearer ${provider.secretKey}`;
    return hasKey ? null : refuse(401, "authentication_error", "wrong API key");
  };
  if (pathname === "/v1/checkout/sessions" || pathname === "/v1/billing_portal/sessions") {
    if (refusal("POST")) return true;
    const form = new Map((await entries()) ?? []);
    if (pathname === "/v1/billing_portal/sessions") {
      const customer = form.get("customer") ?? "";
      returnUrls.set(customer, form.get("return_url") ?? "/");
      return json(200, { id: "bps_local", object: "billing_portal.session", url: `${provider.origin}/pay/account/${customer}` });
    }
    const id = `cs_${randomBytes(8).toString("hex")}`;
    checkouts.set(id, form);
    return json(200, { id, object: "checkout.session", url: `${provider.origin}/pay/${id}` });
  }
  const subscription = /^\/v1\/subscriptions\/sub_([A-Za-z0-9]{1,64})$/.exec(pathname)?.[1];
  if (subscription !== undefined) {
    if (refusal("DELETE")) return true;
    const customer = `cus_${subscription}`;
    if (!plans.delete(customer)) return refuse(404, "invalid_request_error", "No such subscription", "resource_missing");
    const events = subscriptionEndedEvents(customer);
    await sendEvents(provider, events);
    return json(200, events[0][1]);
  }
  const customer = /^\/pay\/account\/(cus_[A-Za-z0-9]{1,64})$/.exec(pathname)?.[1];
  if (customer !== undefined) {
    if (!isPost) return html(renderCustomerPage(customer));
    const events = eventsByAction[new Map((await entries()) ?? []).get("do") ?? ""];
    if (events === undefined) return html(renderCustomerPage(customer), 400);
    await sendEvents(provider, events(customer));
    return redirectTo(returnUrls.get(customer) ?? pathname);
  }
  const id = /^\/pay\/(cs_[0-9a-f]{16})$/.exec(pathname)?.[1];
  const checkout = id === undefined ? undefined : checkouts.get(id);
  if (id === undefined || checkout === undefined) return false;
  if (!isPost) return html(renderCheckoutPage(id, checkout));
  checkouts.delete(id); // a checkout can be paid only once
  await payCheckout(provider, checkout);
  return redirectTo(checkout.get("success_url") ?? "/");
};
