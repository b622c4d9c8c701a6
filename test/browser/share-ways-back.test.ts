// Share mode on the business's page: whatever the browser and the page's headers do to the window that opens, the answer comes
// back by one of three ways, once. The numbers are those of the browser matrix in docs/widget.md.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { type FakeService, startFakeService } from "../support/fake-sheet.ts";
import { type ShareVisit, button, closedBy, filled, formValues, quietly, sharePage, shareTag, visitShare } from "../support/share-visit.ts";

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
  const event = await visit.heard("svc:share");
  expect(event.from).toBe("lead");
  expect(event.page).toBe(page);
  expect(Object.keys(event.detail).sort()).toEqual(["expires_at", "fields", "fingerprint", "scope", "share_id"]);
  expect(await formValues(page)).toEqual({ ...filled, svc_share_id: event.detail.share_id });
  expect(new URL(page.url()).search + new URL(page.url()).hash).toBe("?utm=1&utm=2#offer");
  await quietly(visit);
  expect(visit.events.map(({ type }) => type).filter((type) => type !== "svc:share-error")).toEqual(["svc:share"]);
  expect(fake.redemptions.map(({ status }) => status)).toEqual([200]);
  expect(fake.grants).toHaveLength(1);
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
  expect(visit.errors).toEqual([]);
};

describe("B1-B12, the page's side: the form is filled and there is one share", () => {
  test.each([
    ["no policy of its own", {}],
    ["same-origin", severing],
    ["same-origin-allow-popups", coop("same-origin-allow-popups")],
    ["noopener-allow-popups", coop("noopener-allow-popups")],
  ])("where the page's opener policy is %s", async (_name, headers) => {
    fake.settings.headers = headers;
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await closedBy(sheet, () => sheet.click("#share"));
    await expectShared(visit);
    expect(visit.context.pages()).toEqual([visit.page]);
    await visit.close();
  });

  test.each([
    ["the sheet itself cuts the window off", { sheetHeaders: severing }],
    ["a redirect on the way cuts it off", { hop: severing }],
    ["script is off in the sheet (B28)", { withoutScript: true }],
  ])("where %s", async (_name, settings) => {
    Object.assign(fake.settings, settings);
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await closedBy(sheet, () => sheet.click("withoutScript" in settings ? "#link-code" : "#share"));
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
  await visit.heard("svc:share", 2);
  expect(fake.redemptions.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(fake.redemptions.map(({ key }) => key)).size).toBe(1);
  expect(fake.grants).toHaveLength(1);
  await visit.close();
});

describe("B14 a page that sends no referrer and cuts its windows off", () => {
  test.each(["at once", "after five seconds"])("is asked again in this tab, the sheet answering %s", async (when) => {
    fake.settings.headers = helmet;
    const gate = Promise.withResolvers<void>();
    fake.settings.sheetGate = gate.promise;
    const visit = await visitShare(browser, fake);
    const opening = visit.openSheet(); // told when the sheet answers
    await expect.poll(() => fake.asked.length).toBe(1);
    if (when !== "at once") await visit.context.clock.runFor(5_000);
    gate.resolve();
    const sheet = await opening;
    await sheet.click("#share");
    await sheet.getByText("go back and press the button again").waitFor();
    await visit.page.getByText("Continue in the window that opened, or continue here").click();
    await visit.page.waitForURL(/\/authorize/);
    expect(fake.asked.map(({ referer, query }) => [referer, query.get("display")])).toEqual([
      [undefined, "popup"],
      [`${fake.site}/`, "page"],
    ]);
    await sheet.close();
    await visit.page.click("#share");
    fake.grants.splice(0, 1); // the decision in the first window, which could not come back
    await expectShared(visit);
    await visit.close();
  });
});

describe("B15 popups are blocked:", () => {
  const blocked = "window.open = () => null";
  test.each([
    ["Open in a new tab", {}, false],
    ["Continue here", {}, true],
    ["Open in a new tab", helmet, false],
    ["Continue here", helmet, true],
  ])("“%s” leads to the sheet and back, with %o", async (words, headers, isHere) => {
    fake.settings.headers = headers;
    const visit = await visitShare(browser, fake, { before: blocked });
    await visit.page.click(button);
    expect((await visit.heard("svc:share-error")).detail).toEqual({ code: "popup_blocked" });
    const link = visit.page.getByRole("link", { name: words });
    const [sheet] = isHere ? [visit.page, await link.click()] : await Promise.all([visit.context.waitForEvent("page"), link.click()]);
    await sheet.click("#share");
    await expectShared(visit);
    expect(fake.asked.map(({ query }) => query.get("display"))).toEqual([isHere ? "page" : "popup"]);
    await visit.close();
  });
});

test("B16 an in-app browser turns the window into a navigation: the same tab comes back", async () => {
  const visit = await visitShare(browser, fake, { before: "window.open = (url) => { location.href = url; return null }" });
  await visit.page.click(button);
  await visit.page.waitForURL(/\/authorize/);
  await visit.page.click("#share");
  await expectShared(visit);
  await visit.close();
});

describe("B17 the page is loaded again while the sheet is open:", () => {
  test.each([
    ["the answer finds it by message", {}],
    ["the answer finds it by its channel", severing],
  ])("%s", async (_name, headers) => {
    fake.settings.headers = headers;
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector(headers === severing ? "#share" : "[data-heard]");
    await visit.page.reload();
    await visit.page.waitForSelector(button);
    await closedBy(sheet, () => sheet.click("#share"));
    await expectShared(visit);
    await visit.close();
  });
});

test("B18 the sheet is loaded again: its answer is taken as before", async () => {
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await sheet.waitForSelector("[data-heard]");
  await sheet.reload();
  await sheet.waitForSelector("[data-heard]");
  await closedBy(sheet, () => sheet.click("#share"));
  await expectShared(visit);
  await visit.close();
});

test("B18 back from the page that was returned to: nothing is asked or redeemed a second time", async () => {
  const visit = await visitShare(browser, fake, { before: "window.open = (url) => { location.href = url; return null }" });
  await visit.page.click(button);
  await visit.page.waitForURL(/\/authorize/);
  await visit.page.click("#share");
  await visit.heard("svc:share");
  await visit.page.reload();
  await visit.page.waitForSelector(button);
  await quietly(visit);
  expect(fake.redemptions).toHaveLength(1);
  expect(visit.events.map(({ type }) => type).filter((type) => type === "svc:share")).toEqual(["svc:share"]);
  await visit.close();
});

describe("B19 a double click", () => {
  test.each([
    ["an ordinary page", {}],
    ["a page that cuts its windows off", severing],
  ])("on the button of %s opens one window and asks once", async (_name, headers) => {
    fake.settings.headers = headers;
    const visit = await visitShare(browser, fake);
    const [sheet] = await Promise.all([visit.context.waitForEvent("page"), visit.page.dblclick(button)]);
    await closedBy(sheet, () => sheet.click("#share"));
    await expectShared(visit);
    expect(fake.asked).toHaveLength(1);
    await visit.close();
  });

  test("whose second half comes when the window has been cut off asks nothing new", async () => {
    fake.settings.headers = severing;
    const visit = await visitShare(browser, fake);
    await visit.openSheet();
    await visit.page.getByText("Continue in the window that opened").waitFor();
    await visit.page.evaluate((wanted) => document.querySelector(wanted)?.dispatchEvent(new MouseEvent("click", { detail: 2 })), button);
    await quietly(visit);
    expect(new URL(visit.page.url()).pathname).toBe("/page");
    expect(fake.asked).toHaveLength(1);
    await visit.close();
  });

  test("a second click later shows the window that is open", async () => {
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("[data-heard]");
    await visit.page.click(button);
    await quietly(visit);
    expect(visit.context.pages()).toHaveLength(2);
    expect(fake.asked).toHaveLength(1);
    await closedBy(sheet, () => sheet.click("#share"));
    await expectShared(visit);
    await visit.close();
  });
});

test.each([
  ["by message", {}],
  ["by their channels", severing],
])("B20 two tabs, two requests: no answer crosses, %s", async (_name, headers) => {
  fake.settings.headers = headers;
  const first = await visitShare(browser, fake);
  const second = await visitShare(browser, fake, { context: first.context });
  const sheets = [await first.openSheet(), await second.openSheet()] as const;
  await closedBy(sheets[1], () => sheets[1].click("#share"));
  expect((await first.heard("svc:share")).page).toBe(second.page);
  expect(await formValues(first.page)).toEqual({ first_name: "", last_name: "", email: "", phone: "" });
  await closedBy(sheets[0], () => sheets[0].click("#share"));
  expect((await first.heard("svc:share", 2)).page).toBe(first.page);
  expect(fake.redemptions.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(fake.redemptions.map(({ key }) => key)).size).toBe(2);
  await first.close();
});

describe("B22 the person does not share:", () => {
  /** Paths the service heard of after the sheet had been shown. */
  const callsSince = (shown: number): string[] => fake.loaded.slice(shown);

  test("“Not now” is told once, without a call", async () => {
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("[data-heard]");
    const shown = fake.loaded.length;
    await closedBy(sheet, () => sheet.click("#no"));
    await visit.heard("svc:closed");
    await quietly(visit);
    expect(visit.events.map(({ type, detail, from }) => [type, detail, from])).toEqual([["svc:closed", {}, "lead"]]);
    expect(callsSince(shown)).toEqual([]);
    expect(await visit.page.locator(".svc-share [role=status]").textContent()).toBe("Nothing was shared.");
    await visit.close();
  });

  test("a window that is closed is told once, without a call", async () => {
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("[data-heard]");
    const shown = fake.loaded.length;
    await sheet.close();
    await visit.heard("svc:closed");
    await quietly(visit);
    expect(visit.events).toHaveLength(1);
    expect(callsSince(shown)).toEqual([]);
    await visit.close();
  });

  test("a window that was cut off and is closed is told by nobody, and the button works", async () => {
    fake.settings.headers = severing;
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("#share");
    await sheet.close();
    await quietly(visit);
    expect(visit.events).toEqual([]);
    await visit.page.click(button);
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
      await visit.page.click(button);
      await visit.page.getByRole("link", { name: "Continue here" }).click();
      await visit.page.click("#no");
    } else {
      const sheet = await visit.openSheet();
      await closedBy(sheet, () => sheet.click("#no"));
    }
    await visit.heard("svc:closed");
    await quietly(visit);
    expect(visit.events.filter(({ type }) => type === "svc:closed")).toHaveLength(1);
    expect(new URL(visit.page.url()).search).toBe("?utm=1&utm=2");
    expect(fake.redemptions).toEqual([]);
    await visit.close();
  });
});

describe("B24 an answer that came too late", () => {
  test("is asked for again as the same request, which is the same decision", async () => {
    fake.settings.redeem = (n) =>
      n === 1 ? { status: 410, body: { ok: false, error: { code: "code_expired", message: "x" }, request_id: "req_1" } } : undefined;
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await closedBy(sheet, () => sheet.click("#share"));
    expect((await visit.heard("svc:share-error")).detail).toMatchObject({ code: "code_expired" });
    const again = await visit.openSheet();
    await closedBy(again, () => again.click("#share"));
    await visit.heard("svc:share");
    expect(new Set(fake.asked.map(({ query }) => query.get("state"))).size).toBe(1);
    expect(fake.grants).toHaveLength(1);
    await visit.close();
  });
});

describe("B25 a message that is not the answer is ignored without an event:", () => {
  const answerOf = async (visit: ShareVisit): Promise<Record<string, string>> => {
    const code = await (await fetch(`${fake.service}/decide?state=${fake.asked[0]?.query.get("state")}`, { method: "POST" })).text();
    expect(visit.events).toEqual([]);
    return { type: "svc:code", state: String(fake.asked[0]?.query.get("state")), code };
  };
  const send = (page: Page, message: unknown): Promise<void> => page.evaluate((said) => opener.postMessage(said, "*"), message);

  test.each([
    ["another state", (answer: object) => ({ ...answer, state: "x".repeat(43) })],
    ["no state", (answer: object) => ({ ...answer, state: undefined })],
    ["another type", (answer: object) => ({ ...answer, type: "svc:done" })],
    ["a code that is none", (answer: object) => ({ ...answer, code: { toString: 1 } })],
    ["not an object", () => "svc:code"],
    ["nothing", () => null],
  ])("%s", async (_name, forge) => {
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("[data-heard]");
    const answer = await answerOf(visit);
    await send(sheet, forge(answer));
    await quietly(visit);
    expect([visit.events, visit.errors, fake.redemptions]).toEqual([[], [], []]);
    await send(sheet, answer);
    await visit.heard("svc:share");
    await visit.close();
  });

  test("the right words from the page's own origin, and from another window of the sheet's", async () => {
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("[data-heard]");
    const answer = await answerOf(visit);
    await visit.page.evaluate((said) => postMessage(said, "*"), answer);
    const [other] = await Promise.all([
      visit.context.waitForEvent("page"),
      visit.page.evaluate((url) => void open(url, "other"), `${fake.service}/v1/svc.js`),
    ]);
    await other.waitForURL(`${fake.service}/v1/svc.js`); // any document of the sheet's origin
    await send(other, answer);
    await quietly(visit);
    expect([visit.events, fake.redemptions]).toEqual([[], []]);
    await send(sheet, answer);
    await visit.heard("svc:share");
    await visit.close();
  });
});

test("B25 after a reload, when the page knows no window, only the sheet's origin is believed", async () => {
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await sheet.waitForSelector("[data-heard]");
  await visit.page.reload();
  await visit.page.waitForSelector(button);
  const state = String(fake.asked[0]?.query.get("state"));
  await visit.page.evaluate((said) => postMessage(said, "*"), { type: "svc:code", state, code: "ac_00stranger" });
  await quietly(visit);
  expect([visit.events, fake.redemptions]).toEqual([[], []]);
  await sheet.reload();
  await sheet.waitForSelector("[data-heard]");
  await closedBy(sheet, () => sheet.click("#share"));
  await expectShared(visit);
  await visit.close();
});

describe("B27 a page that is framed", () => {
  const framed = (): string => `<!doctype html><title>Outer</title><iframe src="/page-inner" width="600" height="400"></iframe>`;

  test("shares by its opener's way, and offers no way that leads through the frame", async () => {
    fake.settings.inner = sharePage(fake);
    fake.settings.html = framed();
    const visit = await visitShare(browser, fake);
    const frame = visit.page.frameLocator("iframe");
    const [sheet] = await Promise.all([visit.context.waitForEvent("page"), frame.locator(button).click()]);
    expect(new URL(sheet.url()).searchParams.has("return_url")).toBe(false);
    await closedBy(sheet, () => sheet.click("#share"));
    await visit.heard("svc:share");
    await visit.close();
  });

  test.each([
    ["popup_severed, where the window is cut off", {}, severing],
    ["popup_blocked, where no window opens", { before: "window.open = () => null" }, {}],
  ])("says %s", async (said, options, sheetHeaders) => {
    fake.settings.sheetHeaders = sheetHeaders;
    fake.settings.inner = sharePage(fake);
    fake.settings.html = framed();
    const visit = await visitShare(browser, fake, options);
    const frame = visit.page.frameLocator("iframe");
    await frame.locator(button).click();
    expect((await visit.heard("svc:share-error")).detail).toEqual({ code: said.split(",")[0] });
    expect(await frame.getByRole("link").allTextContents()).toEqual(said.startsWith("popup_blocked") ? ["Open in a new tab"] : []);
    expect(await frame.locator(button).textContent()).toBe("Share my contact details");
    await visit.close();
  });
});

describe("B29 a strict page", () => {
  test.each([
    ["that names the host", `script-src ${"{service}"}; connect-src ${"{service}"}`, ""],
    ["that trusts by nonce", `script-src 'nonce-abc' 'strict-dynamic'; connect-src ${"{service}"}`, "abc"],
  ])("%s, with Trusted Types and no styles", async (_name, policy, nonce) => {
    fake.settings.headers = {
      "content-security-policy": `default-src 'none'; img-src data:; ${policy.replaceAll("{service}", fake.service)}; require-trusted-types-for 'script'; trusted-types 'none'`,
    };
    const withoutIcon = '<link rel="icon" href="data:,"></head>'; // else a browser asks for one by itself, and is refused
    fake.settings.html = sharePage(fake).replace("<script ", `<script nonce="${nonce}" `).replace("</head>", withoutIcon);
    const visit = await visitShare(browser, fake);
    const complaints: string[] = [];
    visit.page.on("console", (message) => complaints.push(message.text()));
    const sheet = await visit.openSheet();
    await closedBy(sheet, () => sheet.click("#share"));
    await expectShared(visit);
    expect(complaints).toEqual([]);
    await visit.close();
  });
});

describe("B30 storage is switched off:", () => {
  const without = "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError') } })";
  const expectFilled = async (visit: ShareVisit): Promise<void> => {
    const { detail } = await visit.heard("svc:share");
    expect(await formValues(visit.page)).toEqual({ ...filled, svc_share_id: detail.share_id });
    expect(visit.errors).toEqual([]);
  };

  test.each([
    ["the window's message is enough", {}],
    ["the channel between the windows is enough", severing],
  ])("%s", async (_name, headers) => {
    fake.settings.headers = headers;
    const visit = await visitShare(browser, fake, { before: without });
    const sheet = await visit.openSheet();
    await closedBy(sheet, () => sheet.click("#share"));
    await expectFilled(visit);
    await visit.close();
  });

  test("in the same tab the request is lost, which is told, and the button is there again", async () => {
    const visit = await visitShare(browser, fake, { before: `${without}; window.open = (url) => { location.href = url; return null }` });
    await visit.page.click(button);
    await visit.page.waitForURL(/\/authorize/);
    await visit.page.click("#share");
    // Whether the page that is left still says popup_blocked depends on how fast it is left.
    const told = () =>
      visit.events.filter(({ detail }) => detail.code !== "popup_blocked").map(({ type, detail, from }) => [type, detail, from]);
    await expect.poll(told, { timeout: 20_000 }).toEqual([["svc:share-error", { code: "lost_request" }, "lead"]]);
    await visit.page.waitForSelector(button);
    expect(new URL(visit.page.url()).search).toBe("?utm=1&utm=2");
    expect(fake.redemptions).toEqual([]);
    await visit.close();
  });
});

test("an answer that was made up for this page leads nowhere, and is taken out of the address", async () => {
  const visit = await visitShare(browser, fake, { path: "/page?a=%2F&svc_code=ac_x&svc_state=made-up&b&svc_error=no#here" });
  expect((await visit.heard("svc:share-error")).detail).toEqual({ code: "lost_request" });
  expect(visit.page.url()).toBe(`${fake.site}/page?a=%2F&b#here`);
  expect(fake.redemptions).toEqual([]);
  await visit.close();
});

test("an answer that comes back to a page without a share tag is taken all the same", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  fake.settings.html = sharePage(fake).replace('data-mode="share"', 'data-mode="consent"');
  await closedBy(sheet, () => sheet.click("#share"));
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
    await closedBy(sheet, () => sheet.click("#share"));
    await visit.heard("svc:share");
    await quietly(visit);
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
    await closedBy(sheet, () => sheet.click("#share"));
    expect((await visit.heard("svc:share-error")).detail).toMatchObject({ code });
    // Broken connections are also tried again by the browser itself.
    if (code === "network") expect(fake.redemptions.length).toBeGreaterThanOrEqual(tries);
    else expect(fake.redemptions).toHaveLength(tries);
    expect(await formValues(visit.page)).toEqual({ first_name: "", last_name: "", email: "", phone: "" });
    expect(await visit.page.locator(".svc-share [role=status]").textContent()).toBe("That did not work. Please try again.");
    await visit.close();
  });
});

test("a request that was superseded still ends in the window that opened for it", async () => {
  fake.settings.headers = severing;
  const visit = await visitShare(browser, fake);
  const sheet = await visit.openSheet();
  await visit.page.getByText("Continue in the window that opened").waitFor();
  await visit.page.click(button);
  await visit.page.waitForURL(/\/authorize/);
  await sheet.click("#share");
  const event = await visit.heard("svc:share");
  expect(event.page).toBe(sheet);
  expect(await formValues(sheet)).toEqual({ ...filled, svc_share_id: event.detail.share_id });
  await visit.close();
});

test("two buttons of one page ask and are answered each for its own form", async () => {
  const form = (id: string): string =>
    `<form id="${id}"><input name="email" type="email" aria-label="E-mail">${shareTag(fake.service, { "data-scope": "email" })}</form>`;
  fake.settings.html = `<!doctype html><html lang="en"><title>Two</title>${form("one")}${form("two")}`;
  const visit = await visitShare(browser, fake);
  for (const [id, count] of [
    ["two", 1],
    ["one", 2],
  ] as const) {
    const [sheet] = await Promise.all([visit.context.waitForEvent("page"), visit.page.click(`#${id} button`)]);
    await closedBy(sheet, () => sheet.click("#share"));
    expect((await visit.heard("svc:share", count)).from).toBe(id);
  }
  await visit.close();
});
