// Paying from the portal: who is led to the provider and who is told why not, in each state of an account, and that a page nobody may
// open changes nothing.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { exampleOwnerEmail } from "../../scripts/demo-world.ts";
import { suspendUnpaid } from "../../workers/background/unpaid-sweep.ts";
import type { Env } from "../../workers/env.ts";
import { openPlatform } from "../../workers/services.ts";
import { customerOf, playProvider, send } from "../support/billing.ts";
import { changedServices } from "../support/changed-services.ts";
import { forgetCodes, signIn } from "../support/people.ts";
import { open, said, send as sendForm, to, type Member } from "../support/portal-pages.ts";
import { databaseContents, serviceWith, world } from "../support/world.ts";
import { elementsIn, read, type ReadPage } from "./page.ts";

const dayMs = 24 * 60 * 60_000;
const { free } = world.examples;
const checkout = "/portal/billing/checkout";
const clerkEmail = "clerk@checkout-pages.example";

let owner: Member;
let clerk: Member;
beforeAll(async () => {
  await forgetCodes();
  owner = await signIn(exampleOwnerEmail("free"));
  await sendForm(owner, "/portal/team", "/portal/team", { email: clerkEmail, role: "member" });
  await forgetCodes();
  clerk = await signIn(clerkEmail);
  for (const who of [owner, clerk]) await open(who, "/portal"); // the first use of a session in a day is noted
});
beforeEach(async () => {
  await env.DB.batch([
    env.DB.prepare("DELETE FROM billing_customers"),
    env.DB.prepare("DELETE FROM billing_events"),
    env.DB.prepare("UPDATE businesses SET status = 'active', plan = 'free' WHERE id = ?").bind(free.id),
  ]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const setStatus = (status: string) => env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, free.id).run();

/** Fourteen days and more after a payment failed. */
const unpaid = async (): Promise<ReturnType<typeof customerOf>> => {
  const customer = customerOf(free.id, "business");
  for (const event of [customer.checkout(0), customer.failed(1)]) expect((await send(event)).status).toBe(200);
  const platform = await openPlatform(env as unknown as Env);
  await suspendUnpaid(changedServices(platform, { clock: () => Date.now() + 15 * dayMs }));
  return customer;
};

const leadsToPay = (page: ReadPage): boolean =>
  elementsIn(page.document).some(({ attribs }) => attribs.href?.endsWith("/billing/checkout"));

describe("an account that is suspended because a payment is missing", () => {
  test("has the way to pay on every page, for an owner, and leads to the provider", async () => {
    await unpaid();
    for (const path of ["", "/certificates", "/domains", "/test", "/test/certificates"]) {
      const page = await open(owner, `/portal${path}`);
      expect([path, page.status, said(page)]).toEqual([path, 402, expect.stringContaining("Suspended since")]);
      expect([path, leadsToPay(page)]).toEqual([path, true]);
    }
    const billing = await open(owner, "/portal/billing");
    expect([billing.status, leadsToPay(billing)]).toEqual([200, true]);
    playProvider();
    expect(to(await open(owner, checkout))).toMatch(/^303 https:\/\/billing\.stripe\.com\//);
  });

  test("tells a member that an owner can, and sends nobody there", async () => {
    await unpaid();
    const calls = playProvider();
    for (const path of ["", "/billing"]) {
      const page = await open(clerk, `/portal${path}`);
      expect(said(page)).toContain("Only an owner can change this.");
      expect(leadsToPay(page)).toBe(false);
    }
    const refused = await open(clerk, checkout);
    expect([refused.status, said(refused)]).toEqual([403, expect.stringContaining("Only an owner can change this.")]);
    expect(calls).toEqual([]);
  });

  test("opens again with the payment", async () => {
    const customer = await unpaid();
    expect((await open(owner, "/portal")).status).toBe(402);
    expect((await send(customer.paid(2))).status).toBe(200);
    expect((await open(owner, "/portal")).status).toBe(200);
  });
});

test("an account that an operator suspended is told that no payment lifts it, and led nowhere", async () => {
  await setStatus("suspended");
  const calls = playProvider();
  const home = await open(owner, "/portal");
  expect([home.status, said(home)]).toEqual([402, expect.stringContaining("a payment does not lift that: write to us")]);
  const billing = await open(owner, "/portal/billing");
  expect([billing.status, said(billing)]).toEqual([200, expect.stringContaining("A payment does not lift that: write to us.")]);
  expect([leadsToPay(home), leadsToPay(billing)]).toEqual([false, false]);
  const refused = await open(owner, checkout);
  expect([refused.status, said(refused)]).toEqual([402, expect.stringContaining("A payment does not lift that")]);
  expect(calls).toEqual([]);
});

test("a page of the checkout that was opened before the account was closed leads nowhere", async () => {
  expect(leadsToPay(await open(owner, "/portal/billing"))).toBe(true);
  await setStatus("closed");
  const calls = playProvider();
  const refused = await open(owner, checkout);
  expect([refused.status, said(refused)]).toEqual([402, expect.stringContaining("This account is closed")]);
  expect(calls).toEqual([]);
});

describe("whoever is refused", () => {
  test("is told why, and no row changes: from another site, as a member, where nothing is sold, while the provider is away", async () => {
    const calls = playProvider(() => Response.json({ error: { type: "api_error", message: "away" } }, { status: 500 }));
    const before = await databaseContents();
    const from = (site: string, who: Member): Promise<ReadPage> =>
      read(checkout, { headers: { cookie: who.cookie, "sec-fetch-site": site }, redirect: "manual" });
    expect((await from("cross-site", owner)).status).toBe(403);
    expect((await from("none", clerk)).status).toBe(403);
    expect(calls).toEqual([]);
    const away = await from("same-origin", owner);
    expect([away.status, said(away)]).toEqual([503, expect.stringContaining("The payment provider did not answer.")]);
    const without = serviceWith({
      STRIPE_SECRET_KEY: "",
      STRIPE_WEBHOOK_SECRET: "",
      STRIPE_PRICE_BUSINESS: "",
      STRIPE_PRICE_WHITE_GLOVE: "",
    });
    const unsold = await read(checkout, { headers: { cookie: owner.cookie } }, without);
    expect([unsold.status, said(unsold)]).toEqual([404, expect.stringContaining("Nothing can be bought here.")]);
    expect(await databaseContents()).toEqual(before);
  });

  test("is asked to sign in first, and comes back to the page", async () => {
    expect(to(await open({ cookie: "" }, checkout))).toBe(`303 /portal/sign-in?next=${encodeURIComponent(checkout)}`);
  });
});

test("pressed twice, the same page of the provider is asked for", async () => {
  const calls = playProvider();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const [first, second] = [await open(owner, checkout), await open(owner, checkout)];
  vi.useRealTimers();
  expect([to(first), to(second)]).toEqual([
    "303 https://checkout.stripe.com/c/pay/cs_test",
    "303 https://checkout.stripe.com/c/pay/cs_test",
  ]);
  const [key, again] = calls.map(({ headers }) => headers.get("idempotency-key"));
  expect(key).toMatch(/^.{16,}$/);
  expect(again).toBe(key);
});
