// The whole flow on the whole service: the demo's button, the real consent sheet, the form filled in. Three ways back: by message to
// the window that opened it, through the page's own origin where the sheet has lost that window, and by a link without scripts.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { accessibilityFindings, fitsItsWidth, launchBrowser, openPage } from "../support/browser.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";
import { button } from "../support/share-visit.ts";

let service: LocalService;
let browser: Browser;
beforeAll(async () => {
  [service, browser] = await Promise.all([startLocalService({ DEV_RATE_SCALE: "1000" }), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

const codeFor = async (email: string): Promise<string> => {
  for (;;) {
    const answer = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    const { messages } = (await answer.json()) as { messages: { text: string }[] };
    const code = /(?<!\d)\d{6}(?!\d)/.exec(messages[0]?.text ?? "")?.[0];
    if (code !== undefined) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

/** A press within half a second of the window coming up is taken for one that was meant for the page below. */
const settle = (page: Page): Promise<void> => page.waitForTimeout(600);

/** Each step is whole and passes axe before it is left. */
const looked = async (page: Page): Promise<void> => {
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await fitsItsWidth(page)).toBe(true);
};

/** From the sheet's first step to its decision, which is left open. */
const upToDecision = async (sheet: Page): Promise<string> => {
  const email = `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
  await sheet.waitForSelector("#sheet-email");
  await looked(sheet);
  await settle(sheet);
  await sheet.fill("#sheet-email", email);
  await sheet.click("button.primary");
  await sheet.waitForSelector("#sheet-code");
  await looked(sheet);
  await sheet.fill("#sheet-code", await codeFor(email));
  await sheet.click("button.primary");
  await sheet.waitForSelector("#field-email");
  await looked(sheet);
  await sheet.fill("#field-first_name", "Pat");
  await sheet.fill("#field-last_name", "Example");
  await sheet.click("button.primary");
  await sheet.waitForSelector(".decision");
  await looked(sheet);
  await settle(sheet);
  return email;
};

const filled = async (page: Page): Promise<Record<string, string>> => {
  await page.waitForSelector('input[name="svc_share_id"]', { state: "attached" });
  return page.evaluate(() => Object.fromEntries(new FormData(document.forms[0] as HTMLFormElement)) as Record<string, string>);
};

const api = async (path: string) => {
  const answer = await fetch(`${service.origin}/v1${path}`, { headers: { authorization: `Bearer ${service.world.acme.keys.live}` } });
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
};

describe("sharing with the demo business", () => {
  test("B1: by the window that opened the sheet: the form is filled in, the sheet is gone, and the share can be read", async () => {
    const { page, complaints, close } = await openPage(browser, { viewport: { width: 420, height: 640 } });
    await page.goto(`${service.demoOrigin}/share`);
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.click(button)]);
    const email = await upToDecision(sheet);
    await Promise.all([sheet.waitForEvent("close"), sheet.click(".decision button.primary")]);
    const fields = await filled(page);
    expect(Object.values(fields)).toContain(email);
    expect(await api(`/shares/${fields.svc_share_id}`)).toMatchObject({ status: "active", scope_groups: ["email", "name"] });
    expect(complaints).toEqual([]);
    await close();
  });

  test("B5: a sheet that has lost the window that opened it goes back through the page's own origin", async () => {
    const { page, close } = await openPage(browser);
    await page.context().addInitScript("if (location.pathname === '/authorize') window.opener = null;");
    await page.goto(`${service.demoOrigin}/share`);
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.click(button)]);
    const email = await upToDecision(sheet);
    await sheet.click(".decision button.primary");
    expect(Object.values(await filled(page))).toContain(email);
    await close();
  });

  test("B28: without scripts in the sheet, a link leads back in the same tab", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${service.demoOrigin}/share`);
    const [opened] = await Promise.all([page.context().waitForEvent("page"), page.click(button)]);
    const address = opened.url();
    await opened.close();
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const sheet = await plain.newPage();
    await sheet.goto(address, { referer: `${service.demoOrigin}/` });
    const email = `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
    await sheet.fill("#sheet-email", email);
    await sheet.click("button.primary");
    await sheet.fill("#sheet-code", await codeFor(email));
    await sheet.click("button.primary");
    await sheet.fill("#field-first_name", "Pat");
    await sheet.fill("#field-last_name", "Example");
    await sheet.click("button.primary");
    await sheet.click(".decision button.primary");
    const back = await sheet.getAttribute("[data-go-back]", "href");
    expect(new URL(back ?? "").origin).toBe(service.demoOrigin);
    expect(new URL(back ?? "").searchParams.get("svc_code")).toMatch(/^ac_00/);
    await plain.close();
    await close();
  });

  test("B22: 'Not now' closes the sheet, tells the page so, and leaves nothing", async () => {
    const { page, close } = await openPage(browser);
    const closed = new Promise<void>((resolve) => {
      void page.exposeFunction("heardClosed", resolve);
    });
    await page.addInitScript('document.addEventListener("svc:closed", () => heardClosed())');
    await page.goto(`${service.demoOrigin}/share`);
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.click(button)]);
    await sheet.waitForSelector("#sheet-email");
    await Promise.all([sheet.waitForEvent("close"), sheet.click("[data-not-now]")]);
    await closed;
    expect(await page.locator('input[name="svc_share_id"]').count()).toBe(0);
    await close();
  });
});
