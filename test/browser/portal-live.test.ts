// Tests the portal pages that update themselves without a reload: the setup steps and the events.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { findMissingIcons, openPage } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findEmailCode, signInBrowser } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser();

const postJson = (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${service.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Opens an account through the API and signs the browser in as its owner. */
const signUp = async (page: Page, email: string): Promise<void> => {
  await postJson("/v1/business/signup", { business_name: "Fresh Roofs LLC", email, country: "US" });
  const verified = await postJson("/v1/auth/verify-code", { email, realm: "business", code: await findEmailCode(service.origin, email) });
  const [name = "", value = ""] = (verified.headers.get("set-cookie")?.split(";")[0] ?? "").split("=");
  await page.context().addCookies([{ name, value, url: service.origin }]);
};

/**
 * Issues a live certificate from the demo site or a test certificate from a local page. Returns the certificate's ID and the token in its
 * withdrawal link.
 */
const issue = async (clientId: string, email: string): Promise<{ readonly certId: string; readonly token: string }> => {
  const response = await postJson(
    "/v1/consent",
    {
      client_id: clientId,
      fields: { email },
      disclosure_text: "I agree that Acme Solar LLC may call me.",
      entities: ["Acme Solar LLC"],
      purpose: "solar quote",
      page_url: `${service.demoOrigin}/`,
    },
    { origin: service.demoOrigin },
  );
  const { data } = (await response.json()) as { data: { cert_id: string; manage_url: string } };
  return { certId: data.cert_id, token: data.manage_url.split("#m=")[1] ?? "" };
};

/** Marks the document, so that the test can notice a reload. */
const markDocument = (page: Page): Promise<void> => page.evaluate(() => document.documentElement.setAttribute("data-marked", ""));
const isMarked = (page: Page): Promise<boolean> => page.evaluate(() => document.documentElement.hasAttribute("data-marked"));

const pollMs = 5_100;

describe("the setup steps", () => {
  test("show a finished step within seconds, without a reload", async () => {
    const { page, problems, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } });
    await page.clock.install(); // the page polls every five seconds
    await signUp(page, "owner@live-steps.example");
    await page.goto(`${service.origin}/portal`);
    await markDocument(page);
    const setup = page.locator("#setup");
    const step = setup.locator("li").filter({ hasText: "Issue a test certificate" });
    expect(await step.getByText("Done", { exact: true }).count()).toBe(0);
    await issue((await page.locator("#client-id, .copyline code").first().textContent()) ?? "", "sam@example.com");
    await page.clock.runFor(pollMs);
    await step.getByText("Done", { exact: true }).waitFor();
    expect(await isMarked(page)).toBe(true);
    expect(await findMissingIcons(page)).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  });

  test("keep the keyboard focus where it is", async () => {
    const { page, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } });
    await page.clock.install();
    await signUp(page, "owner@live-focus.example");
    await page.goto(`${service.origin}/portal`);
    const link = page.locator("#setup").getByRole("link", { name: "Add the tag to your form" });
    await link.focus();
    await issue((await page.locator("#client-id, .copyline code").first().textContent()) ?? "", "sam@example.com");
    const answered = page.waitForResponse(`${service.origin}/portal`);
    await page.clock.runFor(pollMs);
    await (await answered).finished();
    expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
    await link.blur();
    await page.clock.runFor(pollMs);
    await page.locator("#setup li").filter({ hasText: "Issue a test certificate" }).getByText("Done", { exact: true }).waitFor();
    await close();
  });
});

describe("the events", () => {
  test("appear without a reload, starting with an empty list, until the reader pauses the updates", async () => {
    const { page, problems, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } });
    await page.clock.install();
    await signInBrowser(page.context(), service.origin, service.world.ownerEmail, "business");
    await page.goto(`${service.origin}/portal/events`);
    await page.getByRole("heading", { name: "No events yet" }).waitFor();
    await markDocument(page);
    const withdraw = async (email: string): Promise<void> => {
      const { certId, token } = await issue(service.world.acme.clients.live, email);
      await postJson(`/v1/certs/${certId}/opt-out/manage`, { token });
      await expect
        .poll(async () => {
          const response = await fetch(`${service.origin}/v1/events?type=certificate.revoked`, {
            headers: { authorization: `Bearer ${service.world.acme.keys.live}` },
          });
          return ((await response.json()) as { data: { events: { cert_id: string }[] } }).data.events.some(
            (event) => event.cert_id === certId,
          );
        })
        .toBe(true);
    };
    const rows = page.locator("#events tbody tr");
    await page.getByRole("button", { name: "Follow", exact: true }).click();
    await withdraw("kim@example.com");
    await page.clock.runFor(pollMs);
    await rows.first().waitFor();
    expect(await rows.count()).toBe(1);
    expect(await findMissingIcons(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop following" }).click();
    await withdraw("lee@example.com");
    let requests = 0;
    page.on("request", () => {
      requests += 1;
    });
    await page.clock.runFor(3 * pollMs);
    expect([requests, await rows.count(), await isMarked(page)]).toEqual([0, 1, true]);
    expect(problems).toEqual([]);
    await close();
  });
});
