// Share mode on the business's page: whatever the browser and the page's headers do to the window that opens, the answer comes
// back by one of three ways, once. The numbers are those of the browser matrix in docs/guides/widget.md.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { type FakeService, startFakeService } from "../support/fake-sheet.ts";
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

let fake: FakeService;
let browser: Browser;
beforeAll(async () => {
  [fake, browser] = await Promise.all([startFakeService(), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  fake.stop();
});
beforeEach(() => fake.reset());

const coop = (value: string): Record<string, string> => ({ "cross-origin-opener-policy": value });
const severing = coop("same-origin");
const helmet = { ...severing, "referrer-policy": "no-referrer" };

/** One share, redeemed once, in the form of the page that shows it. */
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

describe("B1-B12, the page's side: the form is filled and there is one share", () => {
  test.each([
    ["a redirect on the way cuts it off", { hop: severing }],
    ["script is off in the sheet (B28)", { withoutScript: true }],
  ])("where %s", async (_name, settings) => {
    Object.assign(fake.settings, settings);
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await waitUntilClosed(sheet, () => sheet.click("withoutScript" in settings ? "#link-code" : "#share"));
    await expectShared(visit);
    await visit.close();
  });
});

test("where nobody takes the answer, the window that brought it back fills its own form", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await visit.page.goto(`${fake.site}/elsewhere`);
  await sheet.click("#share");
  await expectShared(visit, sheet);
  await visit.close();
});

test("where the acknowledgement is lost, both windows fill their forms with one share", async () => {
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

describe("B19 a double click", () => {
  test("whose second half comes when the window has been cut off asks nothing new", async () => {
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

  test("a second click later shows the window that is open", async () => {
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

describe("B22 the person does not share:", () => {
  test("a window that was cut off and is closed is told by nobody, and the button works", async () => {
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
    ["in a window that was cut off", severing, "popup"],
    ["in this tab", helmet, "page"],
  ])("“Not now” %s comes back by the page and is told once", async (_name, headers, display) => {
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

test("B25 after a reload, when the page knows no window, only the sheet's origin is believed", async () => {
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await sheet.waitForSelector("[data-heard]");
  await visit.page.reload();
  await visit.page.waitForSelector(shareButtonSelector);
  const state = String(fake.sheetRequests[0]?.query.get("state"));
  await visit.page.evaluate((said) => postMessage(said, "*"), { type: "svc:code", state, code: "ac_00stranger" });
  await letTimersRun(visit);
  expect([visit.events, fake.redemptions]).toEqual([[], []]);
  await sheet.reload();
  await sheet.waitForSelector("[data-heard]");
  await waitUntilClosed(sheet, () => sheet.click("#share"));
  await expectShared(visit);
  await visit.close();
});

describe("B27 a page that is framed", () => {
  const framed = (): string => `<!doctype html><title>Outer</title><iframe src="/page-inner" width="600" height="400"></iframe>`;

  test.each([
    ["popup_severed, where the window is cut off", {}, severing],
    ["popup_blocked, where no window opens", { before: "window.open = () => null" }, {}],
  ])("says %s", async (said, options, sheetHeaders) => {
    fake.settings.sheetHeaders = sheetHeaders;
    fake.settings.inner = sharePage(fake);
    fake.settings.html = framed();
    const visit = await visitShare(browser, fake, options);
    const frame = visit.page.frameLocator("iframe");
    await frame.locator(shareButtonSelector).click();
    expect((await visit.waitForEvent("svc:share-error")).detail).toEqual({ code: said.split(",")[0] });
    expect(await frame.getByRole("link").allTextContents()).toEqual(said.startsWith("popup_blocked") ? ["Open in a new tab"] : []);
    expect(await frame.locator(shareButtonSelector).textContent()).toBe("Share my contact details");
    await visit.close();
  });
});

test("an answer that was made up for this page leads nowhere, and is taken out of the address", async () => {
  const visit = await visitShare(browser, fake, { path: "/page?a=%2F&svc_code=ac_x&svc_state=made-up&b&svc_error=no#here" });
  expect((await visit.waitForEvent("svc:share-error")).detail).toEqual({ code: "lost_request" });
  expect(visit.page.url()).toBe(`${fake.site}/page?a=%2F&b#here`);
  expect(fake.redemptions).toEqual([]);
  await visit.close();
});

test("an answer that comes back to a page without a share tag is taken all the same", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  fake.settings.html = sharePage(fake).replace('data-mode="share"', 'data-mode="consent"');
  await waitUntilClosed(sheet, () => sheet.click("#share"));
  await expectShared(visit);
  await visit.close();
});

describe("B32 the answer to the redemption is lost:", () => {
  test.each(["lost", "silent"] as const)("asked again under its key, the form is filled once (%s)", async (how) => {
    // The browser sends a request again by itself when a connection it reused breaks: that one is broken too.
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
  ])("%s is told after as many tries as make sense", async (code, answer, tries) => {
    fake.settings.redeem = () => answer;
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await waitUntilClosed(sheet, () => sheet.click("#share"));
    expect((await visit.waitForEvent("svc:share-error")).detail).toMatchObject({ code });
    // Broken connections are also tried again by the browser itself.
    if (code === "network") expect(fake.redemptions.length).toBeGreaterThanOrEqual(tries);
    else expect(fake.redemptions).toHaveLength(tries);
    expect(await readFormValues(visit.page)).toEqual({ first_name: "", last_name: "", email: "", phone: "" });
    expect(await visit.page.locator(".svc-share [role=status]").textContent()).toBe("That did not work. Please try again.");
    await visit.close();
  });
});

test("a request that was superseded still ends in the window that opened for it", async () => {
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

test("two buttons of one page ask and are answered each for its own form", async () => {
  const form = (id: string): string =>
    `<form id="${id}"><input name="email" type="email" aria-label="E-mail">${renderShareTag(fake.service, { "data-scope": "email" })}</form>`;
  fake.settings.html = `<!doctype html><html lang="en"><title>Two</title>${form("one")}${form("two")}`;
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
