// Tests that deleting an account ends its subscription, however long the payment provider is unavailable and in whatever order the
// provider's events arrive.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { endSubscriptions } from "../../workers/background/subscription-ends.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { createCustomer, mockProvider, sendProviderEvent, type ProviderCall } from "../support/billing.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { buildJsonRequest } from "../support/people.ts";
import { signInPerson, type SignedPerson } from "../support/sharing.ts";
import { call, createServiceCall, world } from "../support/world.ts";

const token = "token-of-the-operator-in-the-tests-of-43-ch";
const operator = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token) });
const { free } = world.examples;
const minuteMs = 60_000;

const setStatus = async (status: string): Promise<void> => {
  const response = await operator(`/v1/admin/businesses/${free.id}`, buildJsonRequest({ status }, { authorization: `Bearer ${token}` }));
  expect(response.status).toBe(200);
};

/** Runs the job that ends subscriptions, as if the given number of minutes had passed. */
const runIn = async (minutes: number): Promise<void> => {
  const platform = await createPlatform(env);
  await endSubscriptions(createServicesWith(platform, { clock: () => Date.now() + minutes * minuteMs }));
};
const listPendingEnds = async (): Promise<string[]> =>
  (await env.DB.prepare("SELECT entity_id AS id FROM outbox WHERE kind = 'subscription_end'").all<{ id: string }>()).results.map(
    ({ id }) => id,
  );
const listPaths = (calls: readonly ProviderCall[]): string[] => calls.map(({ path }) => path);
const buildCanceledResponse = () => Response.json({ id: "sub", object: "subscription", status: "canceled" });
const buildOutageResponse = () => Response.json({ error: { type: "api_error", message: "down" } }, { status: 500 });
const buildGoneResponse = () =>
  Response.json({ error: { type: "invalid_request_error", code: "resource_missing", message: "No such" } }, { status: 404 });

const readConsumerId = async ({ headers }: SignedPerson): Promise<string> => (await call("/v1/me", { headers })).body.data.id as string;
const planOf = async (id: string): Promise<unknown> => env.DB.prepare("SELECT plan FROM consumers WHERE id = ?").bind(id).first("plan");
const remove = async ({ headers }: SignedPerson): Promise<void> => {
  expect((await call("/v1/me", { ...buildJsonRequest({ confirm: "DELETE" }, headers), method: "DELETE" })).status).toBe(200);
};

const createPayingPerson = async () => {
  const signed = await signInPerson({});
  const id = await readConsumerId(signed);
  const customer = createCustomer(id, "white_glove");
  expect((await sendProviderEvent(customer.checkout(0))).status).toBe(200);
  expect(await planOf(id)).toBe("white_glove");
  return { signed, id, customer };
};

beforeEach(() =>
  env.DB.batch([
    env.DB.prepare("DELETE FROM billing_customers"),
    env.DB.prepare("DELETE FROM outbox WHERE kind = 'subscription_end'"),
    env.DB.prepare("UPDATE businesses SET status = 'active', plan = 'free' WHERE id = ?").bind(free.id),
  ]),
);
afterEach(() => {
  vi.restoreAllMocks();
});

describe("a person who deletes their account", () => {
  test("stops paying: the subscription is canceled once, and later events of the provider restore nothing", async () => {
    const { signed, id, customer } = await createPayingPerson();
    await remove(signed);
    expect(await listPendingEnds()).toEqual([customer.subscription]);
    const calls = mockProvider(buildCanceledResponse);
    await runIn(0);
    await runIn(60);
    expect(listPaths(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    expect(await listPendingEnds()).toEqual([]);
    vi.restoreAllMocks();
    expect((await sendProviderEvent(customer.deleted(9))).status).toBe(200);
    expect(await planOf(id)).toBe("free");
    const { results } = await env.DB.prepare("SELECT account_id FROM billing_customers").all();
    expect(results).toEqual([{ account_id: null }]);
    await runIn(120);
    expect(await listPendingEnds()).toEqual([]);
  });

  test("causes no call to the provider if they never paid", async () => {
    const signed = await signInPerson({});
    const calls = mockProvider(buildCanceledResponse);
    await remove(signed);
    await runIn(1);
    expect(listPaths(calls)).toEqual([]);
  });

  test("causes no call to the provider if their subscription had ended", async () => {
    const { signed, customer } = await createPayingPerson();
    await sendProviderEvent(customer.deleted(5));
    await remove(signed);
    expect(await listPendingEnds()).toEqual([]);
  });

  test("Y9: has the cancellation retried at growing intervals until the provider confirms it", async () => {
    const { signed, customer } = await createPayingPerson();
    await remove(signed);
    const failing = mockProvider(buildOutageResponse);
    await runIn(0);
    const first = failing.length;
    expect(first).toBeGreaterThan(0);
    await runIn(0.5);
    expect(failing.length).toBe(first);
    for (const minutes of [2, 5, 10, 60, 600, 6_000]) await runIn(minutes);
    expect(await listPendingEnds()).toEqual([customer.subscription]);
    vi.restoreAllMocks();
    const calls = mockProvider(buildCanceledResponse);
    await runIn(20_000);
    expect(listPaths(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    expect(await listPendingEnds()).toEqual([]);
  });

  test("needs no further call if the provider does not know the subscription", async () => {
    const { signed } = await createPayingPerson();
    await remove(signed);
    const calls = mockProvider(buildGoneResponse);
    await runIn(0);
    expect(calls.length).toBe(1);
    expect(await listPendingEnds()).toEqual([]);
  });

  test("gets no plan from a checkout paid after the deletion, and its subscription is canceled", async () => {
    const signed = await signInPerson({});
    const id = await readConsumerId(signed);
    const customer = createCustomer(id, "white_glove");
    await remove(signed);
    for (const event of [customer.paid(1), customer.checkout(0), customer.checkout(0)])
      expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await planOf(id)).toBe("free");
    expect(await listPendingEnds()).toEqual([customer.subscription]);
    const calls = mockProvider(buildCanceledResponse);
    await runIn(0);
    expect(listPaths(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
  });

  test("causes only one call to the provider, even with twenty concurrent workers", async () => {
    const { signed } = await createPayingPerson();
    await remove(signed);
    const calls = mockProvider(buildCanceledResponse);
    await Promise.all(Array.from({ length: 20 }, () => runIn(0)));
    expect(calls.length).toBe(1);
  });
});

describe("a business that is closed", () => {
  test("stops paying, and its plan ends with the provider's event", async () => {
    const customer = createCustomer(free.id, "business");
    await sendProviderEvent(customer.checkout(0));
    await setStatus("closed");
    const calls = mockProvider(buildCanceledResponse);
    await runIn(0);
    expect(listPaths(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    vi.restoreAllMocks();
    await sendProviderEvent(customer.deleted(9));
    expect(await env.DB.prepare("SELECT status, plan FROM businesses WHERE id = ?").bind(free.id).first()).toEqual({
      status: "closed",
      plan: "free",
    });
    expect(await listPendingEnds()).toEqual([]);
  });

  test("keeps its subscription if reopened before it was canceled", async () => {
    const customer = createCustomer(free.id, "business");
    await sendProviderEvent(customer.checkout(0));
    await setStatus("closed");
    await setStatus("active");
    const calls = mockProvider(buildCanceledResponse);
    await runIn(0);
    expect(calls).toEqual([]);
    expect(await listPendingEnds()).toEqual([]);
    await setStatus("closed");
    expect(await listPendingEnds()).toEqual([customer.subscription]);
  });

  test("differs from a suspended one, whose subscription is not canceled", async () => {
    const customer = createCustomer(free.id, "business");
    await sendProviderEvent(customer.checkout(0));
    await setStatus("suspended");
    expect(await listPendingEnds()).toEqual([]);
  });
});

describe("an account with two paid checkouts", () => {
  const createFirstCustomer = () => createCustomer(free.id, "business");
  const isPaidFor = async () => {
    const { plan } = (await env.DB.prepare("SELECT plan FROM businesses WHERE id = ?").bind(free.id).first()) as { plan: string };
    return plan === "business";
  };

  test.each([
    ["in order", 0],
    ["in reverse order", 1],
  ] as const)("Y10: pays for the later one only, with events delivered %s", async (_, isReversed) => {
    const [older, newer] = [createFirstCustomer(), createFirstCustomer()];
    const checkouts = [older.checkout(0), newer.checkout(5)];
    for (const event of isReversed === 1 ? checkouts.toReversed() : checkouts) expect((await sendProviderEvent(event)).status).toBe(200);
    for (const event of checkouts) expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await listPendingEnds()).toEqual([older.subscription]);
    const calls = mockProvider(buildCanceledResponse);
    await runIn(0);
    await runIn(60);
    expect(listPaths(calls)).toEqual([`/v1/subscriptions/${older.subscription}`]);
    expect(await listPendingEnds()).toEqual([]);
    vi.restoreAllMocks();
    await sendProviderEvent(older.deleted(9));
    expect(await isPaidFor()).toBe(true);
    expect(await listPendingEnds()).toEqual([]);
  });

  test.each([
    ["in order", 0],
    ["in reverse order", 1],
  ] as const)("of one customer pays for the later one only, with events delivered %s", async (_, isReversed) => {
    const customer = createFirstCustomer();
    const checkouts = [customer.checkout(0), customer.checkout(5, { subscription: "sub_of_the_later_one" })];
    for (const event of isReversed === 1 ? checkouts.toReversed() : checkouts) expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await listPendingEnds()).toEqual([customer.subscription]);
    const calls = mockProvider(buildCanceledResponse);
    await runIn(0);
    expect(listPaths(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    expect(await isPaidFor()).toBe(true);
  });

  test("retries until the provider has canceled the earlier subscription", async () => {
    const [older, newer] = [createFirstCustomer(), createFirstCustomer()];
    for (const event of [older.checkout(0), newer.checkout(5)]) await sendProviderEvent(event);
    mockProvider(buildOutageResponse);
    await runIn(0);
    expect(await listPendingEnds()).toEqual([older.subscription]);
    vi.restoreAllMocks();
    const calls = mockProvider(buildCanceledResponse);
    await runIn(600);
    expect(listPaths(calls)).toEqual([`/v1/subscriptions/${older.subscription}`]);
    expect(await listPendingEnds()).toEqual([]);
  });

  test("keeps the subscription it has if the later checkout names none", async () => {
    const customer = createFirstCustomer();
    for (const event of [customer.checkout(0), customer.checkout(5, { subscription: null })])
      expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await listPendingEnds()).toEqual([]);
  });

  test("cancels nothing if the earlier subscription had ended", async () => {
    const [older, newer] = [createFirstCustomer(), createFirstCustomer()];
    for (const event of [older.checkout(0), older.deleted(2), newer.checkout(5)]) await sendProviderEvent(event);
    expect(await listPendingEnds()).toEqual([]);
    expect(await isPaidFor()).toBe(true);
  });
});

describe("GET /v1/admin/stuck", () => {
  test("lists subscriptions that are not canceled in time", async () => {
    const { signed } = await createPayingPerson();
    await remove(signed);
    await env.DB.prepare("UPDATE outbox SET created_at = 1000 WHERE kind = 'subscription_end'").run();
    const response = await operator("/v1/admin/stuck", { headers: { authorization: `Bearer ${token}` } });
    const { stuck } = response.body.data as { stuck: readonly { kind: string }[] };
    expect(stuck).toContainEqual({ kind: "subscription_ends", count: 1, since: "1970-01-01T00:00:01.000Z", shard: "00" });
    expect(stuck.map(({ kind }) => kind)).not.toContain("policies");
  });
});
