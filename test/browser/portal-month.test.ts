// Tests the portal in a real browser with a month of demo data: the accessibility and width of every page, the drawers, the portal's
// download size, and keyboard use. With UPDATE_SCREENSHOTS=1, also takes the portal's screenshots for the README and the guides.
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { livePaths } from "../../workers/pages/portal/navigation.ts";
import { findIssuesInWindows, hasNoHorizontalScroll, openPage } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { signInBrowser } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser({}, "month");
let page: Page;
let problems: readonly string[];
let close: () => Promise<void>;

beforeAll(async () => {
  ({ page, problems, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } }));
  await signInBrowser(page.context(), service.origin, service.world.ownerEmail, "business");
}, 240_000);
afterAll(() => close());

/** Lists all pages, and the first detail page of each list. */
const listPaths = async (): Promise<readonly string[]> => {
  const details: string[] = [];
  for (const [list, prefix] of [
    ["certificates", "/portal/certificates/cc_"],
    ["deadlines", "/portal/deadlines/"],
    ["shares", "/portal/shares/shr_"],
    ["webhooks", "/portal/webhooks/whk_"],
    ["events", "/portal/events/"],
    ["domains", "/portal/domains/dom_"],
  ] as const) {
    await page.goto(`${service.origin}/portal/${list}`);
    const path = await page.locator(`main a[href^="${prefix}"]`).first().getAttribute("href");
    if (path === null) throw new Error(`no link to a detail page on /portal/${list}`);
    details.push(path);
  }
  return [...livePaths, ...details];
};

const maxPageBytes = 9_000;

/** Takes the screenshots for the README and the guides, in light and dark mode. */
const takeScreenshots = async (): Promise<void> => {
  for (const colorScheme of ["light", "dark"] as const) {
    const suffix = colorScheme === "dark" ? "-dark" : "";
    await page.emulateMedia({ colorScheme });
    await page.goto(`${service.origin}/portal`);
    if (colorScheme === "light")
      await page.screenshot({ path: "docs/images/portal-overview.png", clip: { x: 0, y: 0, width: 1_280, height: 900 } });
    // Uses the same aspect ratio as the README's other two screenshots.
    await page.screenshot({ path: `docs/images/readme-portal${suffix}.png`, clip: { x: 0, y: 0, width: 1_000, height: 900 } });
  }
};

describe("every page of the portal", () => {
  test("passes axe in light and dark at each width, with 200% text, and is at most 9 kB compressed", async () => {
    if (process.env.UPDATE_SCREENSHOTS === "1") await takeScreenshots();
    const windows = (["light", "dark"] as const).flatMap((colorScheme) => [1_280, 390, 320].map((width) => ({ colorScheme, width })));
    const findings: string[] = [];
    for (const path of await listPaths()) {
      const response = await page.goto(`${service.origin}${path}`);
      const bytes = gzipSync(await (response as NonNullable<typeof response>).text(), { level: 9 }).byteLength;
      if (bytes > maxPageBytes) findings.push(`${path}: ${bytes} bytes`);
      const found = await findIssuesInWindows(page, windows);
      findings.push(...found.map((finding) => `${path}: ${finding}`));
      for (const width of [1_280, 640]) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate(() => {
          document.documentElement.style.fontSize = "200%";
        });
        if (!(await hasNoHorizontalScroll(page))) findings.push(`${path}: too wide with 200 % text at ${width} pixels`);
        await page.evaluate(() => {
          document.documentElement.style.fontSize = "";
        });
      }
      await page.setViewportSize({ width: 1_280, height: 900 });
    }
    expect(findings).toEqual([]);
    expect(problems).toEqual([]);
  }, 300_000);
});

describe("on a phone", () => {
  const asPhone = { viewport: { width: 390, height: 800 }, colorScheme: "dark", javaScriptEnabled: false } as const;

  test("the menu and the filters open without scripts", async () => {
    const phone = await openPage(browser, asPhone);
    await signInBrowser(phone.page.context(), service.origin, service.world.ownerEmail, "business");
    await phone.page.goto(`${service.origin}/portal/certificates`);
    await phone.page.getByRole("button", { name: "Filters" }).click();
    await phone.page.getByLabel("Recipient").fill("Acme Solar LLC");
    await phone.page.getByRole("button", { name: "Apply" }).click();
    await phone.page.locator(".chip").first().waitFor();
    expect(await phone.page.locator(".chip").count()).toBe(1);
    for (const [path, field, option] of [
      ["/portal/events", "Event type", "share.created"],
      ["/portal/audit", "What", "Share created"],
    ] as const) {
      await phone.page.goto(`${service.origin}${path}`);
      await phone.page.getByRole("button", { name: "Filters" }).click();
      await phone.page.getByLabel(field).selectOption({ label: option });
      await phone.page.getByRole("button", { name: "Apply" }).click();
      await phone.page.getByRole("link", { name: `Remove filter: ${field} ${option}` }).waitFor();
    }
    await phone.page.getByRole("button", { name: "Menu" }).click();
    await phone.page.getByRole("navigation", { name: "Portal pages" }).getByRole("link", { name: "Audit log" }).click();
    await phone.page.waitForURL("**/portal/audit");
    expect(new URL(phone.page.url()).pathname).toBe("/portal/audit");
    await phone.close();
  });

  test("passes axe with the menu and with the filters open", async () => {
    const { page: phone, close: closePhone } = await openPage(browser, { viewport: { width: 390, height: 800 } });
    await signInBrowser(phone.context(), service.origin, service.world.ownerEmail, "business");
    const windows = (["light", "dark"] as const).map((colorScheme) => ({ colorScheme, width: 390 }));
    for (const button of ["Menu", "Filters"]) {
      await phone.goto(`${service.origin}/portal/certificates`);
      await phone.getByRole("button", { name: button }).click();
      expect(await findIssuesInWindows(phone, windows), button).toEqual([]);
    }
    await closePhone();
  });
});

test("says on Get started that every step is done", async () => {
  await page.goto(`${service.origin}/portal/steps`);
  await page.getByText("You’ve completed every step and issued a live certificate.").waitFor();
  expect(await page.locator("ol.steps > li").filter({ hasText: "Done" }).count()).toBe(7);
});

test("filters the certificates by keyboard alone, with the focus always in sight", async () => {
  await page.goto(`${service.origin}/portal/certificates`);
  const hidden: string[] = [];
  const isReached = (name: string): Promise<boolean> => page.evaluate((id) => document.activeElement?.id === id, name);
  for (let presses = 0; presses < 60 && !(await isReached("filter-recipient")); presses += 1) {
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(() => {
      const active = document.activeElement as HTMLElement;
      return { name: active.textContent ?? "", style: getComputedStyle(active).outlineStyle };
    });
    if (outline.style === "none") hidden.push(outline.name);
  }
  await page.keyboard.type("Acme Solar LLC");
  await page.keyboard.press("Enter");
  await page.waitForURL(/recipient=Acme/);
  expect(hidden).toEqual([]);
});
