// Tests the link in a sign-in email in a real browser. The page finds the token even if a mail gateway rewrote the link. It uses the token
// only when the button is clicked, and only in the browser that requested the email.
import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { findIssuesInWindows, openPage, wideAndNarrowAppearances } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

interface Mailed {
  readonly url: string;
  readonly token: string;
  readonly code: string;
}

/** Waits for a sign-in email to an address, because the service sends it after its response. */
const waitForMail = async (email: string): Promise<Mailed> => {
  for (;;) {
    const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    const { messages } = (await response.json()) as { messages: readonly { text: string }[] };
    const [, url, token] = /(https?:\S+)#s=([A-Za-z0-9_-]{43})$/m.exec(messages[0]?.text ?? "") ?? [];
    const [code] = /^\d{6}$/m.exec(messages[0]?.text ?? "") ?? [];
    if (url !== undefined && token !== undefined && code !== undefined)
      return { url: new URL(new URL(url).pathname, service.origin).href, token, code };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

let people = 0;
const createEmail = (): string => {
  people += 1;
  return `linked.${people}@example.com`;
};

const requestLinkInApp = async (page: Page, email: string): Promise<Mailed> => {
  await page.goto(`${service.origin}/app/details`);
  await page.getByLabel("Your email address").fill(email);
  await page.getByRole("button", { name: "Send code" }).click();
  await page.getByRole("heading", { name: "Check your email" }).waitFor();
  return waitForMail(email);
};

const isSignedIn = async (page: Page): Promise<boolean> =>
  (await page.context().cookies()).some(({ name }) => name.endsWith("svc_session"));

describe("the link in a sign-in email", () => {
  test.each<[string, (mailed: Mailed) => string]>([
    ["as it was sent", ({ url, token }) => `${url}#s=${token}`],
    ["with an encoded fragment", ({ url, token }) => `${url}%23s=${token}`],
    ["with a fragment encoded twice", ({ url, token }) => `${url}%2523s%253D${token}`],
    ["with the token in the query", ({ url, token }) => `${url}?s=${token}`],
    ["wrapped inside the token", ({ url, token }) => `${url}#s=${token.slice(0, 20)}%0D%0A${token.slice(20)}`],
    ["with the traces of quoted-printable", ({ url, token }) => `${url}#s=3D${token}.`],
  ])("signs in after a click and continues where the person was: %s", async (_name, rewrite) => {
    const { page, problems, close } = await openPage(browser);
    const mailed = await requestLinkInApp(page, createEmail());
    const tab = await page.context().newPage();
    await tab.goto(rewrite(mailed));
    const button = tab.getByRole("button", { name: "Sign in" });
    await button.waitFor();
    expect(tab.url()).not.toContain(mailed.token.slice(0, 20));
    expect(await isSignedIn(tab)).toBe(false);
    await button.click();
    await tab.waitForURL("**/app/details");
    expect(await isSignedIn(tab)).toBe(true);
    await page.goto(`${service.origin}/app/details`);
    expect(await page.getByLabel("Your email address").count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });

  test("does nothing in another browser except ask for the code", async () => {
    const asking = await openPage(browser);
    const email = createEmail();
    const { url, token, code } = await requestLinkInApp(asking.page, email);
    const another = await openPage(browser);
    await another.page.goto(`${url}#s=${token}`);
    await another.page.getByRole("heading", { name: "Enter the code from your email" }).waitFor();
    expect(await another.page.getByRole("button", { name: "Sign in" }).count()).toBe(0);
    await another.page.getByLabel("Your email address").fill(email);
    await another.page.getByLabel("6-digit code").fill(code);
    expect(await isSignedIn(another.page)).toBe(false);
    await another.page.getByRole("button", { name: "Continue" }).click();
    await another.page.waitForURL("**/app");
    expect([await isSignedIn(another.page), await isSignedIn(asking.page)]).toEqual([true, false]);
    await another.close();
    await asking.close();
  });

  test("asks for the code without scripts, even in the browser that requested the email", async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    const { url, token, code } = await requestLinkInApp(page, createEmail());
    await page.goto(`${url}#s=${token}`);
    expect(await page.getByRole("button", { name: "Sign in" }).count()).toBe(0);
    await page.getByLabel("6-digit code").fill(code);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL("**/app/details");
    await close();
  });

  test("signs in a member of a business", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${service.origin}/portal/sign-in?next=/portal/team`);
    await page.getByLabel("Work email").fill(service.world.memberEmail);
    await page.getByRole("button", { name: "Send code" }).click();
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
    const { url, token } = await waitForMail(service.world.memberEmail);
    await page.goto(`${url}#s=${token}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL("**/portal/team");
    await close();
  });
});

test("the pages of the link are accessible and fit narrow windows, in light and dark", async () => {
  const { page, problems, close } = await openPage(browser);
  const email = createEmail();
  const app = await requestLinkInApp(page, email);
  for (const path of ["/app/sign-in/link", "/portal/sign-in/link"])
    for (const hash of [`#s=${app.token}`, ""]) {
      await page.goto("about:blank");
      await page.goto(`${service.origin}${path}${hash}`);
      const at = page.locator(hash === "" ? "#sign-in-code" : "#sign-in-link");
      await at.waitFor();
      expect(await findIssuesInWindows(page, wideAndNarrowAppearances), `${path}${hash === "" ? "" : " with a token"}`).toEqual([]);
    }
  await page.context().clearCookies();
  for (const path of ["/app/sign-in/link", "/portal/sign-in/link"]) {
    await page.goto(`${service.origin}${path}`);
    expect(await findIssuesInWindows(page, wideAndNarrowAppearances), `${path} elsewhere`).toEqual([]);
  }
  expect(problems).toEqual([]);
  await close();
});
