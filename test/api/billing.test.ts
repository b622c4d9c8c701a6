// Tests the checkout, and how the payment provider's events change an account.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { getExampleOwnerEmail } from "../../scripts/demo-world.ts";
import type { ConsumerId } from "../../core/ids.ts";
import { findPersonRecord } from "../../storage/people.ts";
import { listUnpaidCustomers } from "../../storage/billing.ts";
import { openDatabase } from "../../storage/database.ts";
import { suspendUnpaid } from "../../workers/background/unpaid-sweep.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import {
  createCustomer,
  mockProvider,
  sendProviderEvent,
  sendRawProviderEvent,
  signPayload,
  type ProviderEvent,
} from "../support/billing.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { clearCodes, signIn } from "../support/people.ts";
import {
  call,
  submitConsent,
  readDatabaseContents,
  createEntryCall,
  getWithKey,
  issueCertificate,
  productionSettings,
  createServiceCall,
  buildSubmission,
  world,
} from "../support/world.ts";

const dayMs = 24 * 60 * 60_000;
const { free } = world.examples;

const readAccount = (id: string) =>
  env.DB.prepare("SELECT status, plan, revision FROM businesses WHERE id = ?")
    .bind(id)
    .first<{ status: string; plan: string; revision: number }>();

const readConsumerId = async (): Promise<string> =>
  (await env.DB.prepare("SELECT id FROM consumers LIMIT 1").first<{ id: string }>())?.id as string;

const listEntryTypes = async (id: string): Promise<string[]> =>
  (await env.DB.prepare("SELECT type FROM audit_entries WHERE entity_id = ? ORDER BY ord").bind(id).all<{ type: string }>()).results.map(
    ({ type }) => type,
  );

const sendAll = async (...events: readonly ProviderEvent[]): Promise<void> => {
  for (const event of events) expect((await sendProviderEvent(event)).status).toBe(200);
};

/** Suspends unpaid accounts as if the given number of days had passed. Processes at most `maxCustomers` customers. */
const sweepIn = async (days: number, maxCustomers = Infinity): Promise<void> => {
  const platform = await createPlatform(env);
  let left = maxCustomers;
  const hasBudget = async (): Promise<boolean> => left-- > 0;
  await suspendUnpaid(createServicesWith(platform, { clock: () => Date.now() + days * dayMs, hasBudget }));
};

const resetAccounts = (): Promise<unknown> =>
  env.DB.batch([
    env.DB.prepare("DELETE FROM billing_customers"),
    env.DB.prepare("DELETE FROM billing_events"),
    env.DB.prepare("DELETE FROM audit_entries WHERE type LIKE 'business.%' OR type LIKE 'consumer.%'"),
    env.DB.prepare("UPDATE businesses SET status = 'active', plan = 'free' WHERE id = ?").bind(free.id),
    env.DB.prepare("UPDATE consumers SET plan = 'free'"),
  ]);

beforeEach(async () => {
  await resetAccounts();
  await clearCodes();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const requestCheckout = (cookie: Record<string, string>, plan = "business", headers: Record<string, string> = {}) =>
  call(`/v1/billing/checkout?plan=${plan}`, { headers: { ...cookie, ...headers }, redirect: "manual" });

describe("GET /v1/billing/checkout", () => {
  test("redirects an owner to the provider's checkout with the business and the plan, and no personal data", async () => {
    const cookie = await signIn(getExampleOwnerEmail("free"));
    const calls = mockProvider();
    const response = await requestCheckout(cookie);
    expect([response.status, response.headers.get("location")]).toEqual([303, "https://checkout.stripe.com/c/pay/cs_test"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(calls.map(({ path }) => path)).toEqual(["/v1/checkout/sessions"]);
    expect(calls[0]?.form).toEqual({
      mode: "subscription",
      "line_items[0][price]": "price_business",
      "line_items[0][quantity]": "1",
      client_reference_id: free.id,
      "metadata[plan]": "business",
      "subscription_data[metadata][plan]": "business",
      success_url: "http://svc.test/portal/billing",
      cancel_url: "http://svc.test/portal/billing",
    });
    expect(calls[0]?.headers.get("authorization")).toBe("Bearer sk_test_of_the_tests");
  });

  test("redirects a consumer to the checkout for the white_glove plan", async () => {
    const cookie = await signIn(world.consumerEmail, "consumer");
    const calls = mockProvider();
    expect((await requestCheckout(cookie, "white_glove")).status).toBe(303);
    expect(calls[0]?.form).toMatchObject({
      client_reference_id: await readConsumerId(),
      "metadata[plan]": "white_glove",
      "line_items[0][price]": "price_white_glove",
      success_url: "http://svc.test/app/removals",
      cancel_url: "http://svc.test/app/removals",
    });
  });

  test("reuses one checkout page for ten minutes", async () => {
    const cookie = await signIn(getExampleOwnerEmail("free"));
    vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / 600_000) * 600_000 });
    const calls = mockProvider();
    await requestCheckout(cookie);
    vi.setSystemTime(Date.now() + 599_000);
    await requestCheckout(cookie);
    vi.setSystemTime(Date.now() + 1_000);
    await requestCheckout(cookie);
    vi.useRealTimers();
    const keys = calls.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[1]);
  });

  test("redirects a subscriber to the provider's billing page, so that they cannot pay twice", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0));
    const cookie = await signIn(getExampleOwnerEmail("free"));
    const calls = mockProvider();
    expect((await requestCheckout(cookie)).headers.get("location")).toMatch(/^https:\/\/billing\.stripe\.com\//);
    expect(calls[0]).toMatchObject({ path: "/v1/billing_portal/sessions", form: { customer: customer.customer } });
    await sendAll(customer.deleted(5));
    expect((await requestCheckout(cookie)).status).toBe(303);
    expect(calls[1]).toMatchObject({ path: "/v1/checkout/sessions", form: { customer: customer.customer } });
  });

  test("refuses an invalid plan, the other kind of account, members and signed-out callers", async () => {
    const calls = mockProvider();
    const requestOutcome = async (email: string | null, realm: "business" | "consumer", query: string) => {
      const cookie = email === null ? {} : await signIn(email, realm);
      const { status, body } = await call(`/v1/billing/checkout${query}`, { headers: cookie });
      return `${status} ${body.error.code}`;
    };
    expect(await requestOutcome(world.ownerEmail, "business", "?plan=enterprise")).toBe("400 invalid_request");
    expect(await requestOutcome(world.ownerEmail, "business", "")).toBe("400 invalid_request");
    expect(await requestOutcome(world.ownerEmail, "business", "?plan=business&plan=business")).toBe("400 invalid_request");
    expect(await requestOutcome(world.ownerEmail, "business", "?plan=white_glove")).toBe("403 forbidden");
    expect(await requestOutcome(world.consumerEmail, "consumer", "?plan=business")).toBe("403 forbidden");
    expect(await requestOutcome(world.memberEmail, "business", "?plan=business")).toBe("403 owner_required");
    expect(await requestOutcome(null, "business", "?plan=business")).toBe("401 unauthorized");
    expect(await requestOutcome(getExampleOwnerEmail("suspended"), "business", "?plan=business")).toBe("402 business_suspended");
    expect(await requestOutcome(getExampleOwnerEmail("closed"), "business", "?plan=business")).toBe("402 business_inactive");
    expect(calls).toEqual([]);
  });

  test("Y4: changes no row, refuses requests from pages of other sites, and redirects only to the provider's hosts", async () => {
    const cookie = await signIn(getExampleOwnerEmail("free"));
    const calls = mockProvider();
    const before = await readDatabaseContents();
    expect((await requestCheckout(cookie, "business", { "sec-fetch-site": "cross-site" })).body.error.code).toBe("csrf_failed");
    expect(calls).toEqual([]);
    expect((await requestCheckout(cookie, "business", { "sec-fetch-site": "same-origin" })).status).toBe(303);
    expect(await readDatabaseContents()).toEqual(before);
    for (const url of [
      "https://evil.example/pay",
      "http://checkout.stripe.com/pay",
      "https://checkout.stripe.com.evil.example/",
      "https://checkout.stripe.com:8443/",
      "javascript:alert(1)",
      null,
    ]) {
      vi.restoreAllMocks();
      mockProvider(() => Response.json({ id: "cs_test", object: "checkout.session", url }));
      expect((await requestCheckout(cookie)).body.error.code).toBe("billing_unavailable");
    }
  });

  test("returns 503 billing_unavailable with Retry-After when the provider fails", async () => {
    const cookie = await signIn(getExampleOwnerEmail("free"));
    mockProvider(() => Response.json({ error: { type: "api_error", message: `no ${free.id}` } }, { status: 400 }));
    const response = await requestCheckout(cookie);
    expect([response.status, response.body.error.code, response.headers.get("retry-after")]).toEqual([503, "billing_unavailable", "60"]);
    expect(response.text).not.toContain(free.id);
  });

  test("redirects a business suspended for not paying to the provider's billing page", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0), customer.failed(1));
    await sweepIn(15);
    expect(await readAccount(free.id)).toMatchObject({ status: "suspended" });
    const cookie = await signIn(getExampleOwnerEmail("free"));
    mockProvider();
    expect((await requestCheckout(cookie)).headers.get("location")).toMatch(/^https:\/\/billing\.stripe\.com\//);
  });

  test("returns 429 past the hourly limit of an account", async () => {
    const limited = createServiceCall({ LIMIT_CHECKOUT: "2/3600" });
    const cookie = await signIn(world.otherOwnerEmail);
    mockProvider();
    const statuses = [];
    for (let at = 0; at < 3; at += 1) statuses.push((await limited("/v1/billing/checkout?plan=business", { headers: cookie })).status);
    expect(statuses).toEqual([303, 303, 429]);
  });
});

describe("POST /v1/webhooks/stripe", () => {
  const { stringify } = JSON;

  test("returns {received:true} without an envelope, including for event types that it does not handle", async () => {
    const response = await sendProviderEvent({ id: "evt_other", type: "charge.refunded", created: 1, data: { object: {} } });
    expect([response.status, response.body]).toEqual([200, { received: true }]);
    expect((await sendProviderEvent(createCustomer(free.id, "business").checkout(0))).body).toEqual({ received: true });
  });

  test("Y1: accepts only events signed over the raw bytes at most 300 seconds ago, and each event once", async () => {
    const payload = stringify(createCustomer(free.id, "business").checkout(0));
    const before = await readDatabaseContents();
    const refused = [
      await sendRawProviderEvent(payload, null),
      await sendRawProviderEvent(payload, "t=1,v1=00"),
      await sendRawProviderEvent(`${payload} `, await signPayload(payload)),
      await sendRawProviderEvent(payload, await signPayload(payload, { secret: "whsec_of_somebody_else_entirely" })),
      await sendRawProviderEvent(payload, await signPayload(payload, { at: Date.now() - 302_000 })),
      await sendRawProviderEvent(payload, await signPayload(payload, { at: Date.now() + 302_000 })),
      await sendRawProviderEvent(payload, (await signPayload(payload)).replace("v1=", "v0=")),
    ];
    expect(refused.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual(refused.map(() => "400 invalid_request"));
    expect(await readDatabaseContents()).toEqual(before);
    expect((await sendRawProviderEvent(payload, await signPayload(payload, { at: Date.now() - 290_000 }))).status).toBe(200);
    expect(await readAccount(free.id)).toMatchObject({ plan: "business" });
    const taken = await readDatabaseContents();
    for (let at = 0; at < 3; at += 1) expect((await sendRawProviderEvent(payload, await signPayload(payload))).status).toBe(200);
    expect(await readDatabaseContents()).toEqual(taken);
  });

  test("refuses a signed body that is not an event, and one that is too large", async () => {
    for (const payload of ["", "[]", "{}", "null", "{", stringify({ id: "", type: "invoice.paid" })]) {
      expect((await sendRawProviderEvent(payload, await signPayload(payload))).status).toBe(400);
    }
    const large = stringify({ id: "evt_large", type: "x", filler: "x".repeat(256 * 1_024) });
    expect((await sendRawProviderEvent(large, await signPayload(large))).body.error.code).toBe("payload_too_large");
  });

  test("processes an event once when it is delivered twenty times at once", async () => {
    const payload = stringify(createCustomer(free.id, "business").checkout(0));
    const signature = await signPayload(payload);
    const responses = await Promise.all(Array.from({ length: 20 }, () => sendRawProviderEvent(payload, signature)));
    expect([...new Set(responses.map(({ status }) => status))]).toEqual([200]);
    expect(await listEntryTypes(free.id)).toEqual(["business.plan_changed"]);
  });

  test("sets the plan that was paid for, increments the account's revision, and records it in the audit chain", async () => {
    const before = await readAccount(free.id);
    await sendAll(createCustomer(free.id, "business").checkout(0));
    const after = await readAccount(free.id);
    expect(after).toMatchObject({ plan: "business", status: "active" });
    expect(after?.revision).toBeGreaterThan(before?.revision ?? 0);
    expect(await listEntryTypes(free.id)).toEqual(["business.plan_changed"]);
  });

  test("enables certificates immediately when the enterprise plan starts, and disables them when it ends", async () => {
    const send201 = () => submitConsent(buildSubmission(free));
    expect((await send201()).body.error.code).toBe("plan_required");
    const customer = createCustomer(free.id, "enterprise");
    await sendAll(customer.checkout(0));
    expect((await send201()).status).toBe(201);
    await sendAll(customer.updated(5, "active", { metadata: { plan: "business" } }));
    expect((await send201()).body.error.code).toBe("plan_required");
  });

  test("makes the account read-only after a failed payment until the next payment succeeds", async () => {
    const customer = createCustomer(free.id, "enterprise");
    await sendAll(customer.checkout(0), customer.failed(1));
    expect(await readAccount(free.id)).toMatchObject({ status: "past_due", plan: "enterprise" });
    expect((await submitConsent(buildSubmission(free))).body.error.code).toBe("subscription_past_due");
    expect((await getWithKey("/v1/certs", free.keys.live)).status).toBe(200);
    await sendAll(customer.paid(2));
    expect(await readAccount(free.id)).toMatchObject({ status: "active", plan: "enterprise" });
    expect((await submitConsent(buildSubmission(free))).status).toBe(201);
    expect(await listEntryTypes(free.id)).toEqual(["business.plan_changed", "business.status_changed", "business.status_changed"]);
  });

  test("Y2: applies events by the provider's time, not the order of arrival", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0), customer.paid(20), customer.failed(10));
    expect(await readAccount(free.id)).toMatchObject({ status: "active" });
    await sendAll(customer.failed(40), customer.paid(30), customer.updated(31, "active"));
    expect(await readAccount(free.id)).toMatchObject({ status: "past_due" });
    await sendAll(customer.updated(50, "active", { metadata: { plan: "enterprise" } }), customer.updated(45, "active"));
    expect(await readAccount(free.id)).toMatchObject({ status: "active", plan: "enterprise" });
  });

  test("keeps events that arrive before their checkout, and applies them when it arrives", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.failed(10), customer.updated(5, "active"));
    expect(await readAccount(free.id)).toMatchObject({ status: "active", plan: "free" });
    await sendAll(customer.checkout(0));
    expect(await readAccount(free.id)).toMatchObject({ status: "past_due", plan: "business" });
  });

  test("does not let an event dated in the future outrank later events", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0), customer.failed(1_000_000));
    expect(await readAccount(free.id)).toMatchObject({ status: "past_due" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    await sendAll({ ...customer.paid(0), created: Math.floor(Date.now() / 1_000) });
    vi.useRealTimers();
    expect(await readAccount(free.id)).toMatchObject({ status: "active" });
  });

  test("Y3: links a customer to an account only by our checkout, and never to a second account", async () => {
    const before = await readAccount(free.id);
    const stranger = createCustomer(world.other.id, "business");
    // The customer ID of these events is unknown, but their metadata and reference ID identify our business.
    await sendAll(
      stranger.updated(1, "active", { metadata: { plan: "enterprise", client_reference_id: free.id, account: free.id } }),
      stranger.failed(2, { client_reference_id: free.id, metadata: { plan: "enterprise" } }),
    );
    expect(await readAccount(free.id)).toEqual(before);
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0));
    await sendAll(customer.checkout(5, { client_reference_id: world.examples.past_due.id, metadata: { plan: "enterprise" } }));
    expect(await readAccount(world.examples.past_due.id)).toMatchObject({ status: "past_due", plan: "enterprise" });
    await sendAll(customer.failed(6));
    expect(await readAccount(free.id)).toMatchObject({ status: "past_due" });
  });

  test("ignores a checkout without one of our plans, for the other kind of account, or for an unknown account", async () => {
    const before = await readDatabaseContents();
    const { checkout: event } = createCustomer(free.id, "business");
    await sendAll(
      event(0, { metadata: {} }),
      event(0, { metadata: { plan: "white_glove" } }),
      event(0, { mode: "payment" }),
      event(0, { client_reference_id: "unknown_account" }),
      event(0, { client_reference_id: `biz_00${"0".repeat(24)}` }),
      event(0, { client_reference_id: `biz_zz${"0".repeat(24)}` }),
      event(0, { customer: null }),
    );
    expect(await readDatabaseContents()).toEqual(before);
  });

  test.each<[string, string, Readonly<Record<string, unknown>>, string]>([
    ["paused", "paused", {}, "free"],
    ["marked as unpaid", "unpaid", {}, "free"],
    ["canceled", "canceled", {}, "free"],
    ["expired before its first payment", "incomplete_expired", {}, "free"],
    ["canceled while its payments are paused", "canceled", { pause_collection: { behavior: "void" } }, "free"],
    ["for a quantity of 0", "active", { items: { data: [{ quantity: 0 }] } }, "free"],
    ["for a quantity of 0, in the format of older API versions", "active", { quantity: 0 }, "free"],
    ["for two items, one of them with a quantity of 0", "active", { items: { data: [{ quantity: 0 }, { quantity: 1 }] } }, "business"],
    ["metered", "active", { items: { data: [{}] } }, "business"],
    ["not collected, with drafts", "active", { pause_collection: { behavior: "keep_as_draft", resumes_at: null } }, "free"],
    ["not collected, with void invoices", "active", { pause_collection: { behavior: "void", resumes_at: 1_900_000_000 } }, "free"],
    ["not collected, with uncollectible invoices", "past_due", { pause_collection: { behavior: "mark_uncollectible" } }, "free"],
    ["collected", "active", { pause_collection: null }, "business"],
    ["canceled at the end of the period", "active", { cancel_at_period_end: true, cancel_at: 1_900_000_000 }, "business"],
    ["in trial", "trialing", {}, "business"],
    ["active", "active", { items: { data: [{ quantity: 1 }] } }, "business"],
    ["past due", "past_due", {}, "business"],
    ["of an unknown status", "of_tomorrow", {}, "business"],
  ])("sets the right plan for a subscription that is %s", async (_name, status, change, plan) => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0), customer.updated(1, status, change));
    expect(await readAccount(free.id)).toMatchObject({ plan });
  });

  test.each<[string, string, Readonly<Record<string, unknown>>]>([
    ["is paused", "paused", {}],
    ["is unpaid", "unpaid", {}],
    ["is not collected", "active", { pause_collection: { behavior: "void" } }],
    ["has the quantity 0", "active", { quantity: 0 }],
  ])("restores the plan when a subscription that %s becomes active again", async (_name, status, change) => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0), customer.updated(1, status, change));
    expect(await readAccount(free.id)).toMatchObject({ plan: "free", status: "active" });
    await sendAll(customer.updated(2, "active", { pause_collection: null, quantity: 1 }));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business", status: "active" });
  });

  test("pauses and resumes the plan on the provider's own pause and resume events", async () => {
    const customer = createCustomer(free.id, "business");
    const withType = (type: string, event: ProviderEvent): ProviderEvent => ({ ...event, type });
    await sendAll(customer.checkout(0), withType("customer.subscription.paused", customer.updated(1, "paused")));
    expect(await readAccount(free.id)).toMatchObject({ plan: "free", status: "active" });
    await sendAll(withType("customer.subscription.resumed", customer.updated(2, "active")));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business", status: "active" });
  });

  test("grants the plan during a trial, from the checkout until the trial ends without a payment method", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0, { payment_status: "no_payment_required" }), customer.updated(1, "trialing"));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business", status: "active" });
    await sendAll(customer.updated(2, "paused"));
    expect(await readAccount(free.id)).toMatchObject({ plan: "free", status: "active" });
  });

  test("never treats a payment as due without a plan, regardless of the order of events", async () => {
    const never = createCustomer(free.id, "business");
    await sendAll(never.checkout(0, { payment_status: "unpaid" }), never.failed(1));
    expect(await readAccount(free.id)).toMatchObject({ plan: "free", status: "active" });
    await resetAccounts();
    const customer = createCustomer(free.id, "business");
    const [failed, unpaid, failedAgain] = [customer.failed(1), customer.updated(2, "unpaid"), customer.failed(3)];
    const orders = [
      [failed, unpaid, failedAgain],
      [unpaid, failed, failedAgain],
      [failedAgain, unpaid, failed],
    ];
    for (const order of orders) {
      await resetAccounts();
      await sendAll(customer.checkout(0), ...order);
      expect(await readAccount(free.id)).toMatchObject({ plan: "free", status: "active" });
    }
  });

  test("treats a payment as due if it failed after the subscription became active again, even if that event arrives later", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0), customer.updated(2, "paused"), customer.failed(5), customer.updated(4, "active"));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business", status: "past_due" });
  });

  test("ignores paid and failed invoices without a subscription or of other subscriptions", async () => {
    const customer = createCustomer(free.id, "business");
    const oneOff = { parent: null, subscription: null };
    const other = { parent: { subscription_details: { subscription: "sub_other" } } };
    await sendAll(customer.checkout(0), customer.failed(1, oneOff), customer.failed(2, other));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business", status: "active" });
    await sendAll(customer.failed(3), customer.paid(4, oneOff), customer.paid(5, other));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business", status: "past_due" });
  });

  test("sets the plan when a pending payment arrives", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0, { payment_status: "unpaid" }));
    expect(await readAccount(free.id)).toMatchObject({ plan: "free" });
    await sendAll(customer.updated(1, "incomplete"));
    expect(await readAccount(free.id)).toMatchObject({ plan: "free" });
    await sendAll(customer.updated(9, "active"));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business" });
  });

  test("ends the plan and the past-due status with the subscription, and ignores later events of that subscription", async () => {
    const customer = createCustomer(free.id, "business");
    await sendAll(customer.checkout(0), customer.failed(1), customer.deleted(2), customer.failed(3), customer.updated(4, "active"));
    expect(await readAccount(free.id)).toMatchObject({ plan: "free", status: "active" });
  });

  test("does not end the current subscription when an earlier one ends", async () => {
    const first = createCustomer(free.id, "business");
    await sendAll(first.checkout(0), first.checkout(10, { subscription: "sub_new" }), first.deleted(20), first.failed(21));
    expect(await readAccount(free.id)).toMatchObject({ plan: "business", status: "active" });
    const second = createCustomer(free.id, "enterprise");
    await sendAll(second.checkout(30), first.failed(31, { parent: null, subscription: "sub_new" }));
    expect(await readAccount(free.id)).toMatchObject({ plan: "enterprise", status: "active" });
    await sendAll(first.checkout(11));
    expect(await readAccount(free.id)).toMatchObject({ plan: "enterprise" });
  });

  test("starts and ends a consumer's plan with the subscription", async () => {
    await signIn(world.consumerEmail, "consumer");
    const id = await readConsumerId();
    const db = openDatabase(env.DB);
    const customer = createCustomer(id, "white_glove");
    expect((await findPersonRecord(db, id as ConsumerId))?.plan).toBe("free");
    await sendAll(customer.checkout(0), customer.failed(1));
    expect((await findPersonRecord(db, id as ConsumerId))?.plan).toBe("white_glove");
    await sweepIn(15);
    expect((await findPersonRecord(db, id as ConsumerId))?.plan).toBe("free");
    await sendAll(customer.paid(2));
    expect((await findPersonRecord(db, id as ConsumerId))?.plan).toBe("white_glove");
    await sendAll(customer.deleted(3));
    expect((await findPersonRecord(db, id as ConsumerId))?.plan).toBe("free");
    expect(await listEntryTypes(id)).toEqual(Array.from({ length: 4 }, () => "consumer.plan_changed"));
  });

  test("Y5: refuses a test-mode event in production", async () => {
    const event = { ...createCustomer(free.id, "enterprise").checkout(0), livemode: false };
    const production = createEntryCall(productionSettings, "https://api.svc.test");
    expect((await sendProviderEvent(event, production)).body.error.code).toBe("invalid_request");
    expect(await readAccount(free.id)).toMatchObject({ plan: "free" });
    expect((await sendProviderEvent({ ...event, livemode: true }, production)).status).toBe(200);
    expect(await readAccount(free.id)).toMatchObject({ plan: "enterprise" });
  });
});

describe("an unpaid account", () => {
  test("is suspended fourteen days after the first failed payment, however often it fails again, and active once it pays", async () => {
    const beganAt = Date.now() - 60_000;
    const customer = createCustomer(free.id, "enterprise", { beganAt });
    await sendAll(customer.checkout(0), customer.failed(0));
    await sweepIn(13.9);
    expect(await readAccount(free.id)).toMatchObject({ status: "past_due" });
    await sendAll(customer.failed(1));
    await sweepIn(14.1);
    expect(await readAccount(free.id)).toMatchObject({ status: "suspended", plan: "enterprise" });
    expect((await getWithKey("/v1/certs", free.keys.live)).body.error.code).toBe("business_suspended");
    await sweepIn(15);
    await sendAll(customer.paid(2));
    expect(await readAccount(free.id)).toMatchObject({ status: "active", plan: "enterprise" });
    expect(await listEntryTypes(free.id)).toEqual(["business.plan_changed", ...Array.from({ length: 3 }, () => "business.status_changed")]);
  });

  /** Runs `check` while payments of two accounts are due. Every attempt to change the account that became due first fails. */
  const whileOtherFails = async (check: (other: { readonly id: string }) => Promise<void>): Promise<void> => {
    const { other } = world;
    const beganAt = Date.now() - 120_000;
    const earlier = createCustomer(other.id, "enterprise", { beganAt });
    const laterCustomer = createCustomer(free.id, "enterprise");
    const { status, plan } = (await readAccount(other.id)) ?? {};
    await sendAll(earlier.checkout(0), earlier.failed(0), laterCustomer.checkout(0), laterCustomer.failed(0));
    await env.DB.prepare("UPDATE billing_customers SET past_due_since = 1 WHERE account_id = ?").bind(other.id).run();
    await env.DB.exec(
      `CREATE TRIGGER other_is_held BEFORE UPDATE OF status ON businesses WHEN NEW.id = '${other.id}' AND NEW.status = 'suspended' BEGIN SELECT RAISE(ABORT, 'away'); END`,
    );
    try {
      await check(other);
    } finally {
      await env.DB.exec("DROP TRIGGER other_is_held");
      await env.DB.prepare("UPDATE businesses SET status = ?, plan = ? WHERE id = ?").bind(status, plan, other.id).run();
    }
  };

  test("is suspended even if the change of another account fails", () =>
    whileOtherFails(async (other) => {
      await sweepIn(15);
      expect([(await readAccount(other.id))?.status, (await readAccount(free.id))?.status]).toEqual(["past_due", "suspended"]);
    }));

  test("is suspended after some runs even if each run has time for one account only, and the change of another fails", () =>
    whileOtherFails(async () => {
      // Each run picks one of the two accounts at random, so a hundred runs are enough.
      for (let run = 0; run < 100 && (await readAccount(free.id))?.status === "past_due"; run += 1) await sweepIn(15, 1);
      expect((await readAccount(free.id))?.status).toBe("suspended");
    }));

  test("is found even if more accounts than one run reads are due longer", () =>
    whileOtherFails(async (other) => {
      const found = new Set<string>();
      // Each run reads one of the two accounts at random, so a hundred runs are enough.
      for (let run = 0; run < 100 && found.size < 2; run += 1)
        for (const { accountId } of await listUnpaidCustomers(openDatabase(env.DB), Date.now(), 1)) found.add(String(accountId));
      expect([...found].toSorted()).toEqual([free.id, other.id].toSorted());
    }));

  test("stays suspended after a payment if an operator suspended it", async () => {
    const customer = createCustomer(free.id, "enterprise");
    await sendAll(customer.checkout(0), customer.failed(1));
    await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(free.id).run();
    await sweepIn(15);
    await sendAll(customer.paid(2), customer.failed(3));
    expect(await readAccount(free.id)).toMatchObject({ status: "suspended" });
  });

  test("keeps people's rights in every state: certificates verify, and withdrawals work", async () => {
    const customer = createCustomer(free.id, "enterprise");
    await sendAll(customer.checkout(0));
    const certs = [await issueCertificate({}, free), await issueCertificate({}, free)];
    const withdraw = async (cert: { cert_id: string; manage_url?: unknown }) =>
      call(`/v1/certs/${cert.cert_id}/opt-out/manage`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: String(cert.manage_url).split("#m=")[1] }),
      });
    await sendAll(customer.failed(1));
    expect((await getWithKey(`/v1/certs/${certs[0]?.cert_id}/verify`)).body.data.status).toBe("active");
    expect((await withdraw(certs[0] as never)).body.data.revoked).toBe(true);
    await sweepIn(15);
    expect(await readAccount(free.id)).toMatchObject({ status: "suspended" });
    expect((await getWithKey(`/v1/certs/${certs[1]?.cert_id}/verify`)).body.data.status).toBe("active");
    expect((await withdraw(certs[1] as never)).body.data.revoked).toBe(true);
    await sendAll(customer.deleted(3));
    expect((await getWithKey(`/v1/certs/${certs[1]?.cert_id}/verify`)).body.data.status).toBe("revoked");
  });
});

describe("the billing settings of a deployment", () => {
  const without = { STRIPE_SECRET_KEY: "", STRIPE_WEBHOOK_SECRET: "", STRIPE_PRICE_BUSINESS: "", STRIPE_PRICE_WHITE_GLOVE: "" };

  test("may be empty: the billing routes then return 404 not_found", async () => {
    const service = createServiceCall(without);
    const cookie = await signIn(world.ownerEmail);
    expect((await service("/v1/billing/checkout?plan=business", { headers: cookie })).body.error.code).toBe("not_found");
    expect((await sendProviderEvent(createCustomer(free.id, "business").checkout(0), service)).body.error.code).toBe("not_found");
  });

  test("stop the deployment if they are incomplete, or if they contain test keys or a mock provider in production", async () => {
    const faulty = [
      [{ ...without, STRIPE_SECRET_KEY: "sk_live_of_the_tests_no_account" }, productionSettings],
      [{ STRIPE_PRICE_BUSINESS: "" }, productionSettings],
      [{ STRIPE_SECRET_KEY: "sk_test_of_the_tests" }, productionSettings],
      [{ STRIPE_WEBHOOK_SECRET: "secret" }, productionSettings],
      [{ DEV_STRIPE_API: "http://localhost:8788" }, productionSettings],
      [{ DEV_STRIPE_API: "nowhere" }, {}],
    ] as const;
    for (const [settings, base] of faulty) {
      const service = createEntryCall({ ...base, ...settings }, "https://api.svc.test");
      expect((await service("/v1/health")).body.error.code).toBe("misconfigured");
    }
    expect((await createEntryCall({ ...productionSettings, ...without }, "https://api.svc.test")("/v1/health")).status).toBe(200);
  });
});
