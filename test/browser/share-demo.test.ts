// The demo business's share page on the whole service: the button stands in the form, and leads to the consent sheet.
import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser } from "playwright-core";
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

describe("the demo business's share page", () => {
  test.each([
    ["light", 1_000],
    ["dark", 1_000],
    ["light", 320],
  ] as const)("is whole and passes axe (%s, %i pixels)", async (colorScheme, width) => {
    const { page, complaints, close } = await openPage(browser, { colorScheme, viewport: { width, height: 900 } });
    await page.goto(`${service.demoOrigin}/share`);
    await page.getByRole("button", { name: "Share my contact details" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await fitsItsWidth(page)).toBe(true);
    expect(complaints).toEqual([]);
    if (process.env.UPDATE_SCREENSHOTS === "1" && colorScheme === "light" && width > 320) {
      mkdirSync("docs/images", { recursive: true });
      await page.screenshot({ path: "docs/images/demo-share.png" });
    }
    await close();
  });

  test("asks the consent sheet for name and e-mail, and for the phone if the person likes", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${service.demoOrigin}/share`);
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.click(button)]);
    const { origin, pathname, searchParams } = new URL(sheet.url());
    expect(origin + pathname).toBe(`${service.origin}/authorize`);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: service.world.acme.clients.live,
      origin: service.demoOrigin,
      scope: "name email phone?",
      duration_days: "90",
      return_url: `${service.demoOrigin}/share`,
      disclosure_text: expect.stringContaining("may call or e-mail me"),
    });
    await close();
  });
});
