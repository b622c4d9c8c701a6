// Tests that the consent sheet shows the current state after the browser restores it from the back-forward cache, not the state from when
// the person left it. The test needs the full browser, because the headless shell has no back-forward cache.
import { afterAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { launchBrowser, openPage } from "../support/browser.ts";
import { startServiceForFile } from "../support/local-service.ts";
import { findNewestCode } from "../support/email-code.ts";
import { shareButtonSelector } from "../support/share-visit.ts";

const service = await startServiceForFile({ DEV_RATE_SCALE: "1000" });
const browser = await launchBrowser("whole", { ignoreDefaultArgs: ["--disable-back-forward-cache"] });
afterAll(() => browser.close());

const signIn = async (page: Page): Promise<void> => {
  const email = `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
  await page.goto(`${service.origin}/app/account`);
  await page.fill("#email", email);
  await page.press("#email", "Enter");
  await page.waitForSelector("#code");
  const findCode = async (): Promise<string | undefined> => {
    const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    return findNewestCode(((await response.json()) as { messages: { text: string }[] }).messages);
  };
  await expect.poll(findCode, { timeout: 20_000 }).toBeDefined();
  await page.fill("#code", (await findCode()) as string);
  await page.press("#code", "Enter");
  await page.waitForSelector("nav.main");
  const fields = { email, first_name: "Pat", last_name: "Example" };
  await page.request.put(`${service.origin}/v1/me/fields`, { data: fields, headers: { "content-type": "application/json" } });
};

test("delivers the answer when Back restores a decision that has been made in the meantime", async () => {
  const { page, close } = await openPage(browser);
  const restored: string[] = [];
  page.on("console", (message) => {
    if (message.text().startsWith("restored ")) restored.push(message.text());
  });
  await page.addInitScript(() => {
    addEventListener("pageshow", ({ persisted }) => persisted && console.info(`restored ${location.pathname}`));
    if (location.pathname !== "/share") return;
    window.open = (url) => {
      location.href = String(url);
      return null;
    };
  });
  // Removes no-store, because Chromium keeps a no-store page in the back-forward cache only if no cookie changes. WebKit keeps no-store
  // pages regardless.
  await page.route(
    (url) => url.pathname === "/authorize",
    async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      await route.fulfill({ response, headers: { ...response.headers(), "cache-control": "private" } });
    },
  );
  await signIn(page);
  await page.goto(`${service.demoOrigin}/share`);
  await page.click(shareButtonSelector);
  await page.waitForSelector(".answer [formaction]");
  const { action, sent } = await page.evaluate(() => {
    const button = document.querySelector(".answer [formaction]") as HTMLButtonElement;
    const form = button.form as HTMLFormElement;
    return { action: button.formAction, sent: [...new FormData(form)].map(([name, value]) => [name, String(value)]) };
  });
  await page.goto(`${service.origin}/app`);
  const created = await page.request.post(action, {
    data: new URLSearchParams(sent).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", origin: service.origin },
    maxRedirects: 0,
  });
  expect(created.status()).toBe(303);
  await page.evaluate(() => history.back()).catch(() => undefined); // navigating back may unload this page before the call returns
  await page.waitForSelector('input[name="svc_share_id"]', { state: "attached" });
  expect(restored).toEqual(["restored /authorize"]);
  await close();
}, 60_000);
