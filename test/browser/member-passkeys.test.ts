// Tests that a member can add, use and remove a passkey on the portal's pages, with Chromium's virtual authenticator.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { addVirtualAuthenticator, findIssuesInWindows, launchBrowser, openPage, wideAndNarrowAppearances } from "../support/browser.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";
import { signInBrowser } from "../support/local-session.ts";

let service: LocalService;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([startLocalService({ DEV_RATE_SCALE: "1000" }), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

test("a member adds a passkey, signs in with it, and removes it", async () => {
  const { page, problems, close } = await openPage(browser);
  await addVirtualAuthenticator(page);
  await signInBrowser(page.context(), service.origin, service.world.memberEmail, "business");
  await page.goto(`${service.origin}/portal/account`);
  expect(await findIssuesInWindows(page, wideAndNarrowAppearances), "without a passkey").toEqual([]);
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("Passkey added.").waitFor();
  expect(await findIssuesInWindows(page, wideAndNarrowAppearances), "with a passkey").toEqual([]);

  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL("**/portal/sign-in");
  await page.goto(`${service.origin}/portal/team`);
  expect(await findIssuesInWindows(page, wideAndNarrowAppearances), "sign-in").toEqual([]);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.waitForURL("**/portal/team");
  await page.getByRole("heading", { level: 1, name: "Team" }).waitFor();

  await page.goto(`${service.origin}/portal/account`);
  await page.getByRole("button", { name: /^Remove/ }).click();
  await page.getByText("Passkey removed.").waitFor();
  expect(await page.getByRole("button", { name: /^Remove/ }).count()).toBe(0);
  expect(problems).toEqual([]);
  await close();
});
