// Tests a team invitation in a real browser: joining without scripts, and whether the page of the invitation is accessible.
import { expect, test } from "vitest";
import { findIssuesInWindows, openPage, wideAndNarrowAppearances } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findEmailCode, signInBrowser, signInToOrigin } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

const invite = async (email: string): Promise<void> => {
  const cookie = await signInToOrigin(service.origin, service.world.ownerEmail);
  const response = await fetch(`${service.origin}/v1/business/portal/members`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie },
    body: JSON.stringify({ email, role: "member" }),
  });
  expect(response.status).toBe(201);
};

test("an invited person signs in, sees the invitation and joins with a click, without scripts", async () => {
  const email = "joining@invited.example";
  await invite(email);
  const { page, problems, close } = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(`${service.origin}/portal/sign-in`);
  await page.getByLabel("Work email").fill(email);
  await page.getByRole("button", { name: "Send code" }).click();
  await page.getByLabel("6-digit code").fill(await findEmailCode(service.origin, email));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/portal/invitations");
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Join Acme Solar LLC?");
  await page.getByRole("button", { name: "Join" }).click();
  await page.waitForURL("**/portal?done=joined");
  expect(problems).toEqual([]);
  await close();
});

test("the invitations page is accessible and fits narrow windows, with and without an invitation", async () => {
  const email = "deciding@invited.example";
  await invite(email);
  const { page, problems, close } = await openPage(browser);
  await signInBrowser(page.context(), service.origin, email, "business");
  await page.goto(`${service.origin}/portal`);
  await page.waitForURL("**/portal/invitations");
  expect(await findIssuesInWindows(page, wideAndNarrowAppearances)).toEqual([]);
  await page.getByRole("button", { name: "Decline" }).click();
  await page.waitForURL("**/portal/invitations?outcome=declined");
  expect(await findIssuesInWindows(page, wideAndNarrowAppearances)).toEqual([]);
  expect(problems).toEqual([]);
  await close();
});
