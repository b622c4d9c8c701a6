// Tests how the result of a share returns to the business's page, against a fake service. It must return exactly once, in one of three
// ways, whatever the browser and the page's headers do to the window. B numbers are rows of the browser matrix in
// docs/reference/page-script.md.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { startFakeService } from "../support/fake-sheet.ts";
import {
  type ShareVisit,
  shareButtonSelector,
  waitUntilClosed,
  filledValues,
  readFormValues,
  letTimersRun,
  sharePage,
  renderShareTag,
  visitShare,
} from "../support/share-visit.ts";

const [fake, browser] = await Promise.all([startFakeService(), launchBrowser()]);
afterAll(async () => {
  await browser.close();
  fake.stop();
});
beforeEach(() => fake.reset());

const buildOpenerPolicy = (value: string): Record<string, string> => ({ "cross-origin-opener-policy": value });
const severing = buildOpenerPolicy("same-origin");
const helmet = { ...severing, "referrer-policy": "no-referrer" };

/** Expects one share, redeemed once, in the form on `page`. */
const expectShared = async (visit: ShareVisit, page: Page = visit.page): Promise<void> => {
  const event = await visit.waitForEvent("svc:share");
  expect(event.from).toBe("lead");
  expect(event.page).toBe(page);
  expect(Object.keys(event.detail).sort()).toEqual(["expires_at", "fields", "fingerprint", "scope", "share_id"]);
  expect(await readFormValues(page)).toEqual({ ...filledValues, svc_share_id: event.detail.share_id });
  expect(new URL(page.url()).search + new URL(page.url()).hash).toBe("?utm=1&utm=2#offer");
  await letTimersRun(visit);
  expect(visit.events.map(({ type }) => type).filter((type) => type !== "svc:share-error")).toEqual(["svc:share"]);
  expect(fake.redemptions.map(({ status }) => status)).toEqual([200]);
  expect(fake.grants).toHaveLength(1);
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
  expect(visit.errors).toEqual([]);
};

describe("B1-B12, the page's side: fills the form with exactly one share", () => {
  test.each([
    ["a redirect to the sheet severs the window", { hop: severing }],
    ["the sheet runs no scripts (B28)", { withoutScript: true }],
  ])("when %s", async (_name, settings) => {
    Object.assign(fake.settings, settings);
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await waitUntilClosed(sheet, () => sheet.click("withoutScript" in settings ? "#link-code" : "#share"));
    await expectShared(visit);
    await visit.close();
  });
});

test("fills the form in the returning window when no other window accepts the answer", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await visit.page.goto(`${fake.site}/elsewhere`);
  await sheet.click("#share");
  await expectShared(visit, sheet);
  await visit.close();
});

test("fills the forms of both windows with the same share when the acknowledgment is lost", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await visit.page.evaluate(() => {
    BroadcastChannel.prototype.postMessage = () => undefined;
  });
  await sheet.click("#share");
  await visit.waitForEvent("svc:share", 2);
  expect(fake.redemptions.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(fake.redemptions.map(({ key }) => key)).size).toBe(1);
  expect(fake.grants).toHaveLength(1);
  await visit.close();
});

describe("B19 double click", () => {
  test("makes no new request when the second click comes after the window was severed", async () => {
    fake.settings.headers = severing;
    const visit = await visitShare(browser, fake);
    await visit.openSheet();
    await visit.page.getByText("Continue in the window that opened").waitFor();
    await visit.page.evaluate(
      (wanted) => document.querySelector(wanted)?.dispatchEvent(new MouseEvent("click", { detail: 2 })),
      shareButtonSelector,
    );
    await letTimersRun(visit);
    expect(new URL(visit.page.url()).pathname).toBe("/page");
    expect(fake.sheetRequests).toHaveLength(1);
    await visit.close();
  });

  test("focuses the open window on a later click", async () => {
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("[data-heard]");
    await visit.page.click(shareButtonSelector);
    await letTimersRun(visit);
    expect(visit.context.pages()).toHaveLength(2);
    expect(fake.sheetRequests).toHaveLength(1);
    await waitUntilClosed(sheet, () => sheet.click("#share"));
    await expectShared(visit);
    await visit.close();
  });
});

describe("B22 the person does not share", () => {
  test("reports nothing when a severed window is closed, and the button still works", async () => {
    fake.settings.headers = severing;
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("#share");
    await sheet.close();
    await letTimersRun(visit);
    expect(visit.events).toEqual([]);
    await visit.page.click(shareButtonSelector);
    await visit.page.waitForURL(/\/authorize/);
    await visit.page.click("#share");
    await expectShared(visit);
    await visit.close();
  });

  test.each([
    ["in a severed window", severing, "popup"],
    ["in this tab", helmet, "page"],
  ])("reports “Not now” %s once, through the page", async (_name, headers, display) => {
    fake.settings.headers = headers;
    const visit = await visitShare(browser, fake, display === "page" ? { before: "window.open = () => null" } : {});
    if (display === "page") {
      await visit.page.click(shareButtonSelector);
      await visit.page.getByRole("link", { name: "Continue here" }).click();
      await visit.page.click("#no");
    } else {
      const sheet = await visit.openSheet();
      await waitUntilClosed(sheet, () => sheet.click("#no"));
    }
    await visit.waitForEvent("svc:closed");
    await letTimersRun(visit);
    expect(visit.events.filter(({ type }) => type === "svc:closed")).toHaveLength(1);
    expect(new URL(visit.page.url()).search).toBe("?utm=1&utm=2");
    expect(fake.redemptions).toEqual([]);
    await visit.close();
  });
});

test("B25 accepts only the sheet's origin after a reload, when the page no longer knows the window", async () => {
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await sheet.waitForSelector("[data-heard]");
  await visit.page.reload();
  await visit.page.waitForSelector(shareButtonSelector);
  const state = String(fake.sheetRequests[0]?.query.get("state"));
  await visit.page.evaluate((message) => postMessage(message, "*"), { type: "svc:code", state, code: "ac_00stranger" });
  await letTimersRun(visit);
  expect([visit.events, fake.redemptions]).toEqual([[], []]);
  await sheet.reload();
  await sheet.waitForSelector("[data-heard]");
  await waitUntilClosed(sheet, () => sheet.click("#share"));
  await expectShared(visit);
  await visit.close();
});

describe("B27 framed page", () => {
  const renderFramedPage = (): string => `<!doctype html><title>Outer</title><iframe src="/page-inner" width="600" height="400"></iframe>`;

  test.each([
    ["popup_severed", {}, severing],
    ["popup_blocked", { before: "window.open = () => null" }, {}],
  ])("reports %s", async (code, options, sheetHeaders) => {
    fake.settings.sheetHeaders = sheetHeaders;
    fake.settings.inner = sharePage(fake);
    fake.settings.html = renderFramedPage();
    const visit = await visitShare(browser, fake, options);
    const frame = visit.page.frameLocator("iframe");
    await frame.locator(shareButtonSelector).click();
    expect((await visit.waitForEvent("svc:share-error")).detail).toEqual({ code });
    expect(await frame.getByRole("link").allTextContents()).toEqual(code === "popup_blocked" ? ["Open in a new tab"] : []);
    expect(await frame.locator(shareButtonSelector).textContent()).toBe("Share my contact details");
    await visit.close();
  });
});

test("redeems nothing for a forged answer in the URL, and removes it from the URL", async () => {
  const visit = await visitShare(browser, fake, { path: "/page?a=%2F&svc_code=ac_x&svc_state=made-up&b&svc_error=no#here" });
  expect((await visit.waitForEvent("svc:share-error")).detail).toEqual({ code: "lost_request" });
  expect(visit.page.url()).toBe(`${fake.site}/page?a=%2F&b#here`);
  expect(fake.redemptions).toEqual([]);
  await visit.close();
});

test("accepts the answer on a page that no longer has a share tag", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  fake.settings.html = sharePage(fake).replace('data-mode="share"', 'data-mode="consent"');
  await waitUntilClosed(sheet, () => sheet.click("#share"));
  await expectShared(visit);
  await visit.close();
});

describe("B32 lost response to the redemption", () => {
  test.each(["lost", "silent"] as const)("retries with the same idempotency key and fills the form once (%s)", async (how) => {
    // If a reused connection breaks, the browser retries the request on its own. That retry must fail too.
    let brokenAt = 0;
    fake.settings.redeem = () => {
      brokenAt ||= Date.now();
      return Date.now() - brokenAt < 500 ? how : undefined;
    };
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await waitUntilClosed(sheet, () => sheet.click("#share"));
    await visit.waitForEvent("svc:share");
    await letTimersRun(visit);
    expect(visit.events).toHaveLength(1);
    expect(fake.redemptions.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(fake.redemptions.at(-1)?.status).toBe(200);
    expect(new Set(fake.redemptions.map(({ key, body }) => JSON.stringify([key, body]))).size).toBe(1);
    expect(fake.redemptions[0]?.key).toMatch(/^[A-Za-z0-9_-]{43}$/);
    await visit.close();
  });

  test.each([
    ["network", "silent" as const, 2],
    ["http_502", { status: 502, body: "<h1>Bad gateway</h1>" }, 2],
    ["code_used", { status: 409, body: { ok: false, error: { code: "code_used", message: "x" }, request_id: "req_9" } }, 1],
  ])("reports %s after the last retry", async (code, reply, attempt) => {
    fake.settings.redeem = () => reply;
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await waitUntilClosed(sheet, () => sheet.click("#share"));
    expect((await visit.waitForEvent("svc:share-error")).detail).toMatchObject({ code });
    // If a connection breaks, the browser also retries the request on its own.
    if (code === "network") expect(fake.redemptions.length).toBeGreaterThanOrEqual(attempt);
    else expect(fake.redemptions).toHaveLength(attempt);
    expect(await readFormValues(visit.page)).toEqual({ first_name: "", last_name: "", email: "", phone: "" });
    expect(await visit.page.locator(".svc-share [role=status]").textContent()).toBe("That didn’t work. Try again.");
    await visit.close();
  });
});

test("completes a superseded request in the window that was opened for it", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await visit.page.getByText("Continue in the window that opened").waitFor();
  await visit.page.click(shareButtonSelector);
  await visit.page.waitForURL(/\/authorize/);
  await sheet.click("#share");
  const event = await visit.waitForEvent("svc:share");
  expect(event.page).toBe(sheet);
  expect(await readFormValues(sheet)).toEqual({ ...filledValues, svc_share_id: event.detail.share_id });
  await visit.close();
});

test("answers each of two buttons on a page in its own form", async () => {
  const renderForm = (id: string): string =>
    `<form id="${id}"><input name="email" type="email" aria-label="E-mail">${renderShareTag(fake.service, { "data-scope": "email" })}</form>`;
  fake.settings.html = `<!doctype html><html lang="en"><title>Two</title>${renderForm("one")}${renderForm("two")}`;
  const visit = await visitShare(browser, fake);
  for (const [id, count] of [
    ["two", 1],
    ["one", 2],
  ] as const) {
    const [sheet] = await Promise.all([visit.context.waitForEvent("page"), visit.page.click(`#${id} button`)]);
    await waitUntilClosed(sheet, () => sheet.click("#share"));
    expect((await visit.waitForEvent("svc:share", count)).from).toBe(id);
  }
  await visit.close();
});
