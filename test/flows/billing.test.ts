// Tests paid plans from checkout to cancellation, with the bundled Worker, the payment provider's library and a local mock of the provider.
import { expect, test } from "vitest";
import { getExampleOwnerEmail } from "../../scripts/demo-world.ts";
import { signInToOrigin } from "../support/local-session.ts";
import { startServiceForFile } from "../support/local-service.ts";

const service = await startServiceForFile();

const press = (page: string, name: string): Promise<Response> =>
  fetch(page, { method: "POST", body: new URLSearchParams({ do: name }), redirect: "manual" });

const readAccount = (): Promise<unknown> =>
  service.database.prepare("SELECT status, plan FROM businesses WHERE id = ?").bind(service.world.examples.free.id).first();

test("changes the account when an owner pays, fails to pay, pays again, changes the plan and cancels", async () => {
  const cookie = await signInToOrigin(service.origin, getExampleOwnerEmail("free"));
  const open = async (): Promise<string> => {
    const response = await fetch(`${service.origin}/v1/billing/checkout?plan=business`, { headers: { cookie }, redirect: "manual" });
    expect(response.status).toBe(303);
    return response.headers.get("location") as string;
  };
  const checkout = await open();
  expect(checkout.startsWith(`${service.demoOrigin}/pay/cs_`)).toBe(true);
  expect(await (await fetch(checkout)).text()).toContain("no money moves");
  const paid = await press(checkout, "pay");
  expect([paid.status, paid.headers.get("location")]).toEqual([303, `${service.origin}/portal/billing`]);
  expect(await readAccount()).toEqual({ status: "active", plan: "business" });
  expect((await press(checkout, "pay")).status).toBe(405);

  const subscription = await open();
  expect(subscription).toMatch(/\/pay\/account\/cus_/);
  await press(subscription, "fail");
  expect(await readAccount()).toEqual({ status: "past_due", plan: "business" });
  await press(subscription, "pay");
  expect(await readAccount()).toEqual({ status: "active", plan: "business" });
  await press(subscription, "enterprise");
  expect(await readAccount()).toEqual({ status: "active", plan: "enterprise" });
  await press(subscription, "end");
  expect(await readAccount()).toEqual({ status: "active", plan: "free" });
});

test("cancels the subscription of a person who deletes the account", async () => {
  const { origin, world, database, runtime } = service;
  const cookie = await signInToOrigin(origin, world.consumerEmail, "consumer");
  const opened = await fetch(`${origin}/v1/billing/checkout?plan=white_glove`, { headers: { cookie }, redirect: "manual" });
  expect((await press(opened.headers.get("location") as string, "pay")).status).toBe(303);
  const customer = await database
    .prepare("SELECT customer_id AS id FROM billing_customers WHERE plan = 'white_glove'")
    .first<{ id: string }>();
  const page = async (): Promise<string> => (await fetch(`${service.demoOrigin}/pay/account/${customer?.id}`)).text();
  expect(await page()).toContain("white_glove");
  const deleted = await fetch(`${origin}/v1/me`, {
    method: "DELETE",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify({ confirm: "DELETE" }),
  });
  expect(deleted.status).toBe(200);
  await runtime.scheduled("* * * * *");
  expect(await page()).not.toContain("white_glove");
  const { results } = await database
    .prepare("SELECT account_id, ended_at FROM billing_customers WHERE customer_id = ?")
    .bind(customer?.id)
    .all();
  expect(results).toEqual([{ account_id: null, ended_at: expect.any(Number) }]);
});

test("returns 401 from the provider mock without the right key", async () => {
  const response = await fetch(`${service.demoOrigin}/v1/checkout/sessions`, {
    method: "POST",
    headers: { authorization: "Bearer sk_test_other" },
  });
  expect(response.status).toBe(401);
});
