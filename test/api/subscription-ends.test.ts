// What an account pays for ends with the account: however long the provider is away, and whatever order things come in.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { endSubscriptions } from "../../workers/background/subscription-ends.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { Env } from "../../workers/env.ts";
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
  const answer = await operator(`/v1/admin/businesses/${free.id}`, buildJsonRequest({ status }, { authorization: `Bearer ${token}` }));
  expect(answer.status).toBe(200);
};

/** The minute job, so many minutes from now. */
const runIn = async (minutes: number): Promise<void> => {
  const platform = await createPlatform(env as unknown as Env);
  await endSubscriptions(createServicesWith(platform, { clock: () => Date.now() + minutes * minuteMs }));
};
const waiting = async (): Promise<string[]> =>
  (await env.DB.prepare("SELECT entity_id AS id FROM outbox WHERE kind = 'subscription_end'").all<{ id: string }>()).results.map(
    ({ id }) => id,
  );
const asked = (calls: readonly ProviderCall[]): string[] => calls.map(({ path }) => path);
const canceled = () => Response.json({ id: "sub", object: "subscription", status: "canceled" });
const away = () => Response.json({ error: { type: "api_error", message: "down" } }, { status: 500 });
const gone = () =>
  Response.json({ error: { type: "invalid_request_error", code: "resource_missing", message: "No such" } }, { status: 404 });

const idOf = async ({ headers }: SignedPerson): Promise<string> => (await call("/v1/me", { headers })).body.data.id as string;
const planOf = async (id: string): Promise<unknown> => env.DB.prepare("SELECT plan FROM consumers WHERE id = ?").bind(id).first("plan");
const remove = async ({ headers }: SignedPerson): Promise<void> => {
  expect((await call("/v1/me", { ...buildJsonRequest({ confirm: "DELETE" }, headers), method: "DELETE" })).status).toBe(200);
};

/** Somebody who pays, and what they pay with. */
const payingPerson = async () => {
  const signed = await signInPerson({});
  const id = await idOf(signed);
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
  test("pays no more: the subscription is ended once, and what the provider says of it afterwards leaves nothing of theirs", async () => {
    const { signed, id, customer } = await payingPerson();
    await remove(signed);
    expect(await waiting()).toEqual([customer.subscription]);
    const calls = mockProvider(canceled);
    await runIn(0);
    await runIn(60);
    expect(asked(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    expect(await waiting()).toEqual([]);
    vi.restoreAllMocks();
    expect((await sendProviderEvent(customer.deleted(9))).status).toBe(200);
    expect(await planOf(id)).toBe("free");
    const { results } = await env.DB.prepare("SELECT account_id FROM billing_customers").all();
    expect(results).toEqual([{ account_id: null }]);
    await runIn(120);
    expect(await waiting()).toEqual([]);
  });

  test("and who paid for nothing asks the provider for nothing", async () => {
    const signed = await signInPerson({});
    const calls = mockProvider(canceled);
    await remove(signed);
    await runIn(1);
    expect(asked(calls)).toEqual([]);
  });

  test("whose subscription had ended before asks for nothing either", async () => {
    const { signed, customer } = await payingPerson();
    await sendProviderEvent(customer.deleted(5));
    await remove(signed);
    expect(await waiting()).toEqual([]);
  });

  test("Y9: is not forgotten while the provider is away: tried again, later each time, until it has said yes", async () => {
    const { signed, customer } = await payingPerson();
    await remove(signed);
    const failing = mockProvider(away);
    await runIn(0);
    const first = failing.length;
    expect(first).toBeGreaterThan(0);
    await runIn(0.5);
    expect(failing.length).toBe(first);
    for (const minutes of [2, 5, 10, 60, 600, 6_000]) await runIn(minutes);
    expect(await waiting()).toEqual([customer.subscription]);
    vi.restoreAllMocks();
    const calls = mockProvider(canceled);
    await runIn(20_000);
    expect(asked(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    expect(await waiting()).toEqual([]);
  });

  test("is done where the provider knows of no such subscription any more", async () => {
    const { signed } = await payingPerson();
    await remove(signed);
    const calls = mockProvider(gone);
    await runIn(0);
    expect(calls.length).toBe(1);
    expect(await waiting()).toEqual([]);
  });

  test("is not charged for a page that was paid on after the account had gone", async () => {
    const signed = await signInPerson({});
    const id = await idOf(signed);
    const customer = createCustomer(id, "white_glove");
    await remove(signed);
    for (const event of [customer.paid(1), customer.checkout(0), customer.checkout(0)])
      expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await planOf(id)).toBe("free");
    expect(await waiting()).toEqual([customer.subscription]);
    const calls = mockProvider(canceled);
    await runIn(0);
    expect(asked(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
  });

  test("of twenty workers at once one asks the provider", async () => {
    const { signed } = await payingPerson();
    await remove(signed);
    const calls = mockProvider(canceled);
    await Promise.all(Array.from({ length: 20 }, () => runIn(0)));
    expect(calls.length).toBe(1);
  });
});

describe("a business that is closed", () => {
  test("pays no more, and its plan ends when the provider says so", async () => {
    const customer = createCustomer(free.id, "business");
    await sendProviderEvent(customer.checkout(0));
    await setStatus("closed");
    const calls = mockProvider(canceled);
    await runIn(0);
    expect(asked(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    vi.restoreAllMocks();
    await sendProviderEvent(customer.deleted(9));
    expect(await env.DB.prepare("SELECT status, plan FROM businesses WHERE id = ?").bind(free.id).first()).toEqual({
      status: "closed",
      plan: "free",
    });
    expect(await waiting()).toEqual([]);
  });

  test("and opened again before anything was ended keeps what it pays for", async () => {
    const customer = createCustomer(free.id, "business");
    await sendProviderEvent(customer.checkout(0));
    await setStatus("closed");
    await setStatus("active");
    const calls = mockProvider(canceled);
    await runIn(0);
    expect(calls).toEqual([]);
    expect(await waiting()).toEqual([]);
    await setStatus("closed");
    expect(await waiting()).toEqual([customer.subscription]);
  });

  test("and one that is suspended goes on: it may pay again", async () => {
    const customer = createCustomer(free.id, "business");
    await sendProviderEvent(customer.checkout(0));
    await setStatus("suspended");
    expect(await waiting()).toEqual([]);
  });
});

describe("an account that two checkouts were paid for", () => {
  const first = () => createCustomer(free.id, "business");
  const isPaidFor = async () => {
    const { plan } = (await env.DB.prepare("SELECT plan FROM businesses WHERE id = ?").bind(free.id).first()) as { plan: string };
    return plan === "business";
  };

  test.each([
    ["as they were paid", 0],
    ["the later one first", 1],
  ] as const)("Y10: pays for the later one alone, told of them %s", async (_, turned) => {
    const [older, newer] = [first(), first()];
    const told = [older.checkout(0), newer.checkout(5)];
    for (const event of turned === 1 ? told.toReversed() : told) expect((await sendProviderEvent(event)).status).toBe(200);
    for (const event of told) expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await waiting()).toEqual([older.subscription]);
    const calls = mockProvider(canceled);
    await runIn(0);
    await runIn(60);
    expect(asked(calls)).toEqual([`/v1/subscriptions/${older.subscription}`]);
    expect(await waiting()).toEqual([]);
    vi.restoreAllMocks();
    await sendProviderEvent(older.deleted(9));
    expect(await isPaidFor()).toBe(true);
    expect(await waiting()).toEqual([]);
  });

  test.each([
    ["as they were paid", 0],
    ["the later one first", 1],
  ] as const)("by one customer, likewise, told of them %s", async (_, turned) => {
    const customer = first();
    const told = [customer.checkout(0), customer.checkout(5, { subscription: "sub_of_the_later_one" })];
    for (const event of turned === 1 ? told.toReversed() : told) expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await waiting()).toEqual([customer.subscription]);
    const calls = mockProvider(canceled);
    await runIn(0);
    expect(asked(calls)).toEqual([`/v1/subscriptions/${customer.subscription}`]);
    expect(await isPaidFor()).toBe(true);
  });

  test("is asked again until the provider has ended the earlier one", async () => {
    const [older, newer] = [first(), first()];
    for (const event of [older.checkout(0), newer.checkout(5)]) await sendProviderEvent(event);
    mockProvider(away);
    await runIn(0);
    expect(await waiting()).toEqual([older.subscription]);
    vi.restoreAllMocks();
    const calls = mockProvider(canceled);
    await runIn(600);
    expect(asked(calls)).toEqual([`/v1/subscriptions/${older.subscription}`]);
    expect(await waiting()).toEqual([]);
  });

  test("of which the later names no subscription keeps the one it has", async () => {
    const customer = first();
    for (const event of [customer.checkout(0), customer.checkout(5, { subscription: null })])
      expect((await sendProviderEvent(event)).status).toBe(200);
    expect(await waiting()).toEqual([]);
  });

  test("after the earlier one had ended asks for nothing", async () => {
    const [older, newer] = [first(), first()];
    for (const event of [older.checkout(0), older.deleted(2), newer.checkout(5)]) await sendProviderEvent(event);
    expect(await waiting()).toEqual([]);
    expect(await isPaidFor()).toBe(true);
  });
});

describe("the operator", () => {
  test("sees subscriptions that do not end", async () => {
    const { signed } = await payingPerson();
    await remove(signed);
    await env.DB.prepare("UPDATE outbox SET created_at = 1000 WHERE kind = 'subscription_end'").run();
    const answer = await operator("/v1/admin/stuck", { headers: { authorization: `Bearer ${token}` } });
    const { stuck } = answer.body.data as { stuck: readonly { kind: string }[] };
    expect(stuck).toContainEqual({ kind: "subscription_ends", count: 1, since: "1970-01-01T00:00:01.000Z", home: "00" });
    expect(stuck.map(({ kind }) => kind)).not.toContain("policies");
  });
});
