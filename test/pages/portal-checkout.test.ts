// Tests payment from the portal: who is redirected to the provider and who gets an explanation in each account status. An unreachable
// checkout must change nothing.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { getExampleOwnerEmail } from "../../scripts/demo-world.ts";
import { suspendUnpaid } from "../../workers/background/unpaid-sweep.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { createCustomer, mockProvider, sendProviderEvent } from "../support/billing.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { clearCodes, signIn } from "../support/people.ts";
import { callPortal, signUpBusiness } from "../support/portal.ts";
import { acceptInvitation, openPage, getPageText, submitForm as sendForm, describeRedirect, type Member } from "../support/portal-pages.ts";
import { readDatabaseContents, createServiceCall, world } from "../support/world.ts";
import { listElements, read, type ReadPage } from "./page.ts";

const dayMs = 24 * 60 * 60_000;
const { free } = world.examples;
const checkout = "/portal/billing/checkout";
const clerkEmail = "clerk@checkout-pages.example";
const supportEmail = "support@svc.example";
const withoutBilling = { STRIPE_SECRET_KEY: "", STRIPE_WEBHOOK_SECRET: "", STRIPE_PRICE_BUSINESS: "", STRIPE_PRICE_WHITE_GLOVE: "" };
const withoutBillingWithSupport = { ...withoutBilling, SUPPORT_EMAIL: supportEmail };

let owner: Member;
let clerk: Member;
beforeAll(async () => {
  await clearCodes();
  owner = await signIn(getExampleOwnerEmail("free"));
  await sendForm(owner, "/portal/team", "/portal/team", { email: clerkEmail, role: "member" });
  await clearCodes();
  clerk = await acceptInvitation(clerkEmail);
  // The first use of a session each day writes a row, so this happens before the tests count rows.
  for (const member of [owner, clerk]) await openPage(member, "/portal");
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

/** Creates a customer whose payment failed, and suspends the account as if more than 14 days had passed. */
const createUnpaidCustomer = async (): Promise<ReturnType<typeof createCustomer>> => {
  const customer = createCustomer(free.id, "business");
  for (const event of [customer.checkout(0), customer.failed(1)]) expect((await sendProviderEvent(event)).status).toBe(200);
  const platform = await createPlatform(env);
  await suspendUnpaid(createServicesWith(platform, { clock: () => Date.now() + 15 * dayMs }));
  return customer;
};

const hasSupportLink = (page: ReadPage): boolean =>
  listElements(page.document).some(({ attribs }) => attribs.href === `mailto:${supportEmail}`);

const hasCheckoutLink = (page: ReadPage): boolean =>
  listElements(page.document).some(({ attribs }) => attribs.href?.endsWith("/billing/checkout"));

describe("an account suspended for a missing payment", () => {
  test("offers the payment on every page to an owner and leads to the provider", async () => {
    await createUnpaidCustomer();
    for (const path of ["", "/certificates", "/domains", "/test", "/test/certificates"]) {
      const page = await openPage(owner, `/portal${path}`);
      expect([path, page.status, getPageText(page)]).toEqual([path, 402, expect.stringContaining("Suspended since")]);
      expect([path, hasCheckoutLink(page)]).toEqual([path, true]);
    }
    const billing = await openPage(owner, "/portal/billing");
    expect([billing.status, hasCheckoutLink(billing)]).toEqual([200, true]);
    mockProvider();
    expect(describeRedirect(await openPage(owner, checkout))).toMatch(/^303 https:\/\/billing\.stripe\.com\//);
  });

  test("tells a member that an owner can pay, and does not redirect the member", async () => {
    await createUnpaidCustomer();
    const calls = mockProvider();
    for (const path of ["", "/billing"]) {
      const page = await openPage(clerk, `/portal${path}`);
      expect(getPageText(page)).toContain("Only owners can change this.");
      expect(hasCheckoutLink(page)).toBe(false);
    }
    const refused = await openPage(clerk, checkout);
    expect([refused.status, getPageText(refused)]).toEqual([403, expect.stringContaining("Only owners can change this.")]);
    expect(calls).toEqual([]);
  });

  test("tells owners whom to email on a deployment without billing", async () => {
    await createUnpaidCustomer();
    const page = await read("/portal", { headers: { cookie: owner.cookie } }, createServiceCall(withoutBillingWithSupport));
    expect([page.status, hasCheckoutLink(page)]).toEqual([402, false]);
    expect(getPageText(page)).toContain(`To pay and reactivate your account, email ${supportEmail}.`);
    expect(hasSupportLink(page)).toBe(true);
    expect(getPageText(page)).not.toContain("Pay now");
  });

  test("is active again after the payment", async () => {
    const customer = await createUnpaidCustomer();
    expect((await openPage(owner, "/portal")).status).toBe(402);
    expect((await sendProviderEvent(customer.paid(2))).status).toBe(200);
    expect((await openPage(owner, "/portal")).status).toBe(200);
  });
});

test("offers no payment if an operator suspended it", async () => {
  await setStatus("suspended");
  const calls = mockProvider();
  const homePage = await openPage(owner, "/portal");
  expect([homePage.status, getPageText(homePage)]).toEqual([402, expect.stringContaining("Making a payment won’t reactivate it")]);
  const billing = await openPage(owner, "/portal/billing");
  expect([billing.status, getPageText(billing)]).toEqual([200, expect.stringContaining("Making a payment won’t reactivate it")]);
  expect([hasCheckoutLink(homePage), hasCheckoutLink(billing)]).toEqual([false, false]);
  const refused = await openPage(owner, checkout);
  expect([refused.status, getPageText(refused)]).toEqual([402, expect.stringContaining("Making a payment won’t reactivate it")]);
  expect(calls).toEqual([]);
});

test("does not lead to payment from a checkout page opened before the account was closed", async () => {
  expect(hasCheckoutLink(await openPage(owner, "/portal/billing"))).toBe(true);
  await setStatus("closed");
  const calls = mockProvider();
  const refused = await openPage(owner, checkout);
  expect([refused.status, getPageText(refused)]).toEqual([402, expect.stringContaining("This account is closed")]);
  expect(calls).toEqual([]);
});

describe("a refused checkout", () => {
  test("explains why and changes no row: from another site, as a member, without a plan for sale, with the provider unavailable", async () => {
    const calls = mockProvider(() => Response.json({ error: { type: "api_error", message: "away" } }, { status: 500 }));
    const before = await readDatabaseContents();
    const from = (site: string, member: Member): Promise<ReadPage> =>
      read(checkout, { headers: { cookie: member.cookie, "sec-fetch-site": site }, redirect: "manual" });
    expect((await from("cross-site", owner)).status).toBe(403);
    expect((await from("none", clerk)).status).toBe(403);
    expect(calls).toEqual([]);
    const failedPage = await from("same-origin", owner);
    expect([failedPage.status, getPageText(failedPage)]).toEqual([503, expect.stringContaining("The payment provider isn’t responding.")]);
    const unsold = await read(checkout, { headers: { cookie: owner.cookie } }, createServiceCall(withoutBilling));
    expect([unsold.status, getPageText(unsold)]).toEqual([404, expect.stringContaining("You can’t change your plan in the portal.")]);
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("does not count toward the owners' limit if the member is not an owner", async () => {
    const [ownerEmail, memberEmail] = ["owner@unpaid-roofs.example", "member@unpaid-roofs.example"];
    const roofer = await signUpBusiness(ownerEmail);
    await callPortal(roofer, "POST", "/members", { email: memberEmail, role: "member" });
    await clearCodes();
    const member = await acceptInvitation(memberEmail);
    mockProvider();
    const strict = createServiceCall({ LIMIT_CHECKOUT: "1/3600" });
    const open = async ({ cookie }: Member, path: string): Promise<number> =>
      (await strict(path, { headers: { cookie }, redirect: "manual" })).status;
    for (const path of [checkout, "/v1/billing/checkout?plan=business"]) {
      expect([await open(member, path), await open(member, path)]).toEqual([403, 403]);
    }
    expect([await open(roofer, checkout), await open(roofer, checkout)]).toEqual([303, 429]);
  });

  test("is not offered on a deployment without billing, where the page gives a past-due account the support address", async () => {
    await setStatus("past_due");
    for (const path of ["/portal", "/portal/billing"]) {
      const page = await read(path, { headers: { cookie: owner.cookie } }, createServiceCall(withoutBillingWithSupport));
      expect([page.status, hasCheckoutLink(page)]).toEqual([200, false]);
      expect(getPageText(page)).toContain(`To pay, email ${supportEmail}.`);
    }
  });

  test("is not offered on a deployment without billing and without a support address, where no page mentions one", async () => {
    await setStatus("past_due");
    for (const path of ["/portal", "/portal/billing", "/portal/settings"]) {
      const page = await read(path, { headers: { cookie: owner.cookie } }, createServiceCall(withoutBilling));
      expect([page.status, hasCheckoutLink(page)]).toEqual([200, false]);
      expect(getPageText(page)).not.toMatch(/contact us|, email|\{support\}/i);
    }
  });

  test("asks the person to sign in first and leads back to the page", async () => {
    expect(describeRedirect(await openPage({ cookie: "" }, checkout))).toBe(`303 /portal/sign-in?next=${encodeURIComponent(checkout)}`);
  });
});

test("names the support address where a plan cannot be changed, an account was suspended, and on the settings page", async () => {
  await env.DB.prepare("UPDATE businesses SET plan = 'enterprise' WHERE id = ?").bind(free.id).run();
  const service = createServiceCall({ SUPPORT_EMAIL: supportEmail });
  const open = (path: string) => read(path, { headers: { cookie: owner.cookie } }, service);
  const [billing, settings] = [await open("/portal/billing"), await open("/portal/settings")];
  expect(getPageText(billing)).toContain(`To change it, email ${supportEmail}.`);
  await setStatus("suspended");
  const suspended = await open("/portal");
  expect(getPageText(suspended)).toContain(`To find out why, email ${supportEmail}.`);
  expect([billing, settings, suspended].map(hasSupportLink)).toEqual([true, true, true]);
});

test("is offered for the Enterprise plan only if the provider bills it, because a checkout would replace it with Business", async () => {
  await env.DB.prepare("UPDATE businesses SET plan = 'enterprise' WHERE id = ?").bind(free.id).run();
  const agreed = await openPage(owner, "/portal/billing");
  expect([hasCheckoutLink(agreed), getPageText(agreed)]).toEqual([
    false,
    expect.stringContaining("You can’t change your plan in the portal."),
  ]);
  expect((await sendProviderEvent(createCustomer(free.id, "enterprise").checkout(0))).status).toBe(200);
  const billed = await openPage(owner, "/portal/billing");
  expect([hasCheckoutLink(billed), getPageText(billed)]).toEqual([true, expect.stringContaining("Manage subscription")]);
});

test("requests the same checkout page from the provider when clicked twice", async () => {
  const calls = mockProvider();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const [first, second] = [await openPage(owner, checkout), await openPage(owner, checkout)];
  vi.useRealTimers();
  expect([describeRedirect(first), describeRedirect(second)]).toEqual([
    "303 https://checkout.stripe.com/c/pay/cs_test",
    "303 https://checkout.stripe.com/c/pay/cs_test",
  ]);
  const [key, repeatedKey] = calls.map(({ headers }) => headers.get("idempotency-key"));
  expect(key).toMatch(/^.{16,}$/);
  expect(repeatedKey).toBe(key);
});
