// Tests that a member can add, use and remove a passkey on the portal's pages, with Chromium's virtual authenticator.
import { expect, test } from "vitest";
import { addVirtualAuthenticator, findIssuesInWindows, openPage, wideAndNarrowAppearances } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { signInBrowser } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

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
