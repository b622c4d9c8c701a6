// Tests a business's first hour in a browser. The business signs up, verifies a domain and adds the tag to its page. It issues and
// withdraws a test certificate, confirms that contact has ended, adds a webhook endpoint, and issues a live certificate. With
// UPDATE_SCREENSHOTS=1, also takes the portal guide's screenshot of the first steps.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { findAccessibilityIssues, launchBrowser, openPage } from "../support/browser.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";
import { findNewestCode } from "../support/email-code.ts";

const operatorToken = "token-of-the-operator-in-the-first-hour-43";
const email = "owner@first-hour.example";

/** The business's own website. The test changes it along the way. */
const site = { proof: "", tag: "", leads: [] as URLSearchParams[], webhooks: [] as { body: string; signature: string | undefined }[] };
let server: Server;
let service: LocalService;
let browser: Browser;
let host: string;

const renderQuotePage = (): string => `<!doctype html><html lang="en"><title>Quote</title><body>
  <form id="quote" action="/leads" method="post">
    <label>E-mail <input name="email" type="email" required></label>
    <label><input type="checkbox" id="consent" name="consent" value="yes">
      <span id="consent-text">I agree that Fresh Roofs LLC may call or e-mail me about roof quotes.</span></label>
    <button>Get my quote</button>
  </form>${site.tag}</body></html>`;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    if (request.url === "/hook") {
      site.webhooks.push({ body, signature: request.headers["svc-signature"] as string | undefined });
      response.writeHead(204).end();
    } else if (request.url === "/.well-known/svc-verification.txt" && site.proof !== "") {
      response.writeHead(200, { "content-type": "text/plain" }).end(`${site.proof}\n`);
    } else if (request.url === "/quote" || request.url === "/leads") {
      if (request.method === "POST") site.leads.push(new URLSearchParams(body));
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(renderQuotePage());
    } else response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not found</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  host = `localhost:${(server.address() as AddressInfo).port}`;
  [service, browser] = await Promise.all([
    startLocalService({ DEV_FETCH_ALLOW: host, ADMIN_TOKEN_SHA256: sha256Hex(operatorToken) }),
    launchBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  server.closeAllConnections();
  server.close();
});

/** Returns the code in the newest email to the address. The service sends the email after its response, so this waits for it. */
const findCode = async (address: string): Promise<string> => {
  let code = "";
  await expect
    .poll(
      async () => {
        const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(address)}`, {
          headers: { accept: "application/json" },
        });
        const { messages } = (await response.json()) as { messages: readonly { text: string }[] };
        code = findNewestCode(messages) ?? "";
        return code;
      },
      { timeout: 20_000 },
    )
    .not.toBe("");
  return code;
};

const findTextbox = (page: Page, name: string): ReturnType<Page["locator"]> => page.getByRole("textbox", { name, exact: true });

const navigateTo = async (page: Page, name: string): Promise<void> => {
  await page
    .getByRole("navigation", { name: "Portal pages" })
    .getByRole("link", { name: new RegExp(`^${name}(?:\\s*,|$)`) })
    .click();
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
};

const readSteps = async (page: Page): Promise<Record<string, string>> => {
  const items = await page.locator("ol.steps > li").all();
  const readText = async (locator: ReturnType<Page["locator"]>): Promise<string> =>
    (await locator.count()) === 0 ? "" : ((await locator.textContent())?.trim() ?? "");
  const read = items.map(async (item) => [await readText(item.locator("h3")), await readText(item.locator(".pill"))] as const);
  return Object.fromEntries(await Promise.all(read));
};

/** Reloads until a row has this text, because the service makes the change after its response. */
const waitForRow = async (page: Page, text: RegExp): Promise<void> => {
  const row = page.locator("tbody tr").filter({ hasText: text }).first();
  await expect
    .poll(
      async () => {
        if ((await row.count()) > 0) return true;
        await page.reload();
        return (await row.count()) > 0;
      },
      { timeout: 30_000, interval: 500 },
    )
    .toBe(true);
};

/** Maps the fields of the business's page and adds the tag to the page. */
const addTag = async (page: Page): Promise<void> => {
  await navigateTo(page, "Install");
  await findTextbox(page, "Page URL").fill(`http://${host}/quote`);
  await findTextbox(page, "Purpose").fill("roof quote follow-up");
  await findTextbox(page, "Recipients").fill("Fresh Roofs LLC");
  await page.getByRole("button", { name: "Create tag" }).click();
  site.tag = (await page.locator("#tag").textContent()) ?? "";
  expect(site.tag).toContain(`${service.origin}/v1/svc.js`);
  await page.getByRole("button", { name: "Check the page again" }).click();
  await page.getByText("Tag installed").waitFor();
};

/** Submits the form on the business's page as a visitor. Returns the certificate ID that the business received with the form. */
const submitForm = async (address: string): Promise<string> => {
  const { page, close } = await openPage(browser);
  const before = site.leads.length;
  await page.goto(`http://${host}/quote`);
  await page.getByLabel("E-mail", { exact: true }).fill(address);
  await page.getByRole("checkbox", { name: /I agree/ }).check();
  await page.getByRole("button", { name: "Get my quote" }).click();
  await page.waitForURL("**/leads");
  await close();
  expect(site.leads).toHaveLength(before + 1);
  const certId = site.leads.at(-1)?.get("svc_cert_id") ?? "";
  expect(certId).toMatch(/^cc_/);
  return certId;
};

test("a new business gets to a live certificate within its first hour", async () => {
  const { page, problems, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } });
  await page.goto(service.origin);
  await page.getByRole("link", { name: "Create an account" }).first().click();
  await page.getByLabel("Business name").fill("Fresh Roofs LLC");
  await page.getByLabel("Work email").fill(email);
  await page.getByRole("button", { name: "Send code" }).click();
  await page.getByLabel("6-digit code").fill(await findCode(email));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
  expect(await readSteps(page)).toMatchObject({
    "Verify your domain": "Next",
    "Issue a test certificate": "",
    "Go live": "Not available yet",
  });

  // The domain cannot be verified until the business publishes its token.
  await page.getByRole("main").getByRole("link", { name: "Add domain" }).click();
  await findTextbox(page, "Domain").fill("localhost");
  await page.getByRole("button", { name: "Add domain" }).click();
  await page.getByRole("button", { name: "Verify domain" }).click();
  await page.getByText(/File: server returned an error page/).waitFor();
  await page.getByText("File", { exact: true }).click();
  site.proof = (await page.getByRole("region", { name: "File", exact: true }).locator("code").nth(1).textContent()) ?? "";
  expect(site.proof).toMatch(/^svc-verify=/);
  await page.getByRole("button", { name: "Verify domain" }).click();
  await page.getByText("Covers localhost and www.localhost.").waitFor();
  if (process.env.UPDATE_SCREENSHOTS === "1") {
    await page.goto(`${service.origin}/portal`);
    await page.screenshot({ path: "docs/images/portal-first-steps.png", fullPage: true });
  }

  await page.getByRole("link", { name: "Test", exact: true }).click();
  await addTag(page);
  const tested = await submitForm("pat@first-hour.example");
  await navigateTo(page, "Certificates");
  await page.locator("tbody tr").first().waitFor();
  expect(await page.locator("tbody tr").count()).toBe(1);
  await page.locator("tbody a").first().click();
  await page.waitForURL(`**/certificates/${tested}*`);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("p***@f***.example");
  const verifyUrl = (await page.getByRole("link", { name: "Public page" }).getAttribute("href")) as string;
  expect(verifyUrl).toMatch(new RegExp(`/c/${tested}$`));

  // Adds a webhook endpoint. It receives the events that follow.
  await navigateTo(page, "Webhooks");
  await page.getByRole("main").getByRole("link", { name: "Add endpoint" }).click();
  await findTextbox(page, "Endpoint URL").fill(`http://${host}/hook`);
  await page.getByRole("radio", { name: "Only the types I choose" }).check();
  await page.getByRole("checkbox", { name: "certificate.issued" }).check();
  await page.getByRole("checkbox", { name: "certificate.revoked" }).check();
  await page.getByRole("button", { name: "Add endpoint" }).click();
  const secret = (await page.locator("#secret-value").textContent()) ?? "";
  expect(await findAccessibilityIssues(page)).toEqual([]);
  await page.getByRole("link", { name: "I’ve saved it" }).click();
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText(/204/).first().waitFor();

  // Until an owner turns on the opt-in event types, the service does not create these events, and the page says so.
  await page.getByText("aren’t sent until an owner turns them on").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByLabel("Send events for every certificate").check();
  await page.getByRole("button", { name: "Save event setting" }).click();
  await page.getByText("Saved.").waitFor();
  await submitForm("lee@first-hour.example");
  await navigateTo(page, "Events");
  await waitForRow(page, /certificate\.issued.*1 of 1/s);

  // The person withdraws, and the business confirms that contact has ended.
  const person = await openPage(browser);
  await person.page.goto(verifyUrl);
  await person.page.getByLabel("Your email address").fill("pat@first-hour.example");
  await person.page.getByRole("button", { name: "Email me a code" }).click();
  await person.page.getByLabel("6-digit code").fill(await findCode("pat@first-hour.example"));
  await person.page.getByRole("button", { name: "Withdraw my consent" }).click();
  await person.page.getByRole("heading", { level: 1, name: "Consent withdrawn" }).waitFor();
  await person.close();
  await navigateTo(page, "Events");
  await waitForRow(page, /certificate\.revoked.*1 of 1/s);
  await navigateTo(page, "Withdrawals");
  await page.getByRole("link", { name: /^Confirm contact ended: / }).click();
  await page.getByLabel("Notified the recipients").check();
  await page.getByRole("button", { name: "Confirm contact ended" }).click();
  await page.getByText("Nothing to confirm").waitFor();

  // Goes live: the operator sets the plan, and the same page gets the live tag.
  const { id } = (await service.database.prepare("SELECT id FROM businesses WHERE name = 'Fresh Roofs LLC'").first<{ id: string }>()) as {
    id: string;
  };
  const planned = await fetch(`${service.origin}/v1/admin/businesses/${id}`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ plan: "enterprise" }),
  });
  expect(planned.status).toBe(200);
  await page.getByRole("link", { name: "Live", exact: true }).click();
  site.tag = "";
  await addTag(page);
  const live = await submitForm("sam@first-hour.example");
  await navigateTo(page, "Certificates");
  await page.locator("tbody a").first().click();
  expect(await page.getByRole("link", { name: "Public page" }).getAttribute("href")).toMatch(new RegExp(`/c/${live}$`));
  await navigateTo(page, "Overview");
  expect(await page.locator(".tile").first().textContent()).toBe("Certificates issued1");
  await page.getByRole("main").getByRole("link", { name: "Get started" }).click();
  await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
  expect(await readSteps(page)).toMatchObject({
    "Verify your domain": "Done",
    "Issue a test certificate": "Done",
    "Withdraw the test consent, then confirm that contact has ended": "Done",
    "Get notified of withdrawals by webhook": "Done",
    "Go live": "Done",
  });

  const receivedTypes = site.webhooks.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  expect([...new Set(receivedTypes)].toSorted()).toEqual(["certificate.issued", "certificate.revoked", "test.ping"]);
  for (const { body, signature } of site.webhooks) expect(verifySignature(body, signature, secret, Date.now() / 1_000)).toBe(true);
  // The only browser error is the failed domain verification above.
  expect(problems).toEqual([expect.stringContaining("409 (Conflict)")]);
  await close();
}, 240_000);
