// Share mode on the business's page: when its file is loaded, where the button stands, what is asked for, and how the form is filled.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { accessibilityFindings, hasNoHorizontalScroll, launchBrowser } from "../support/browser.ts";
import { type FakeService, startFakeService } from "../support/fake-sheet.ts";
import {
  type Attributes,
  type ShareVisit,
  shareButtonSelector,
  filledValues,
  readFormValues,
  letTimersRun,
  shareForm,
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

const share = async (visit: ShareVisit): Promise<void> => {
  const sheet = await visit.openSheet();
  await Promise.all([sheet.waitForEvent("close"), sheet.click("#share")]);
  await visit.waitForEvent("svc:share");
};

describe("the share part", () => {
  const parts = (): string[] => fake.loaded.filter((path) => path.includes("svc-share"));

  test("is not loaded by a page that only certifies consent", async () => {
    fake.settings.html = sharePage(fake, { attributes: { "data-mode": "consent", "data-entities": "Acme" } });
    const visit = await visitShare(browser, fake);
    await visit.page.waitForFunction("window.Svc && window.Svc.v");
    await letTimersRun(visit);
    expect(fake.loaded).toEqual(["/v1/svc.js"]);
    await visit.close();
  });

  test("is loaded once, under its hashed name, however many tags ask for it", async () => {
    fake.settings.html = sharePage(fake, { body: shareForm + renderShareTag(fake.service, { "data-purpose": "another" }) });
    const visit = await visitShare(browser, fake);
    await visit.page.waitForFunction((wanted) => document.querySelectorAll(wanted).length === 2, shareButtonSelector);
    await letTimersRun(visit);
    expect(parts()).toEqual([expect.stringMatching(/^\/v1\/svc-share-[0-9a-f]{12}\.js$/)]);
    expect(await visit.page.locator(shareButtonSelector).count()).toBe(2);
    await visit.close();
  });

  test("that cannot be loaded is told to the owner, and the form works on", async () => {
    const visit = await visitShare(browser, fake, { path: "/elsewhere" });
    await visit.page.route("**/svc-share-*", (route) => route.abort());
    await visit.page.goto(`${fake.site}/page`);
    await expect.poll(() => visit.warnings).toEqual(["svc.js: svc-share.js is not loaded: allow it in your CSP"]);
    expect([visit.errors, await visit.page.locator(shareButtonSelector).count()]).toEqual([[], 0]);
    await visit.close();
  });

  test("stores nothing and asks for nothing before a click", async () => {
    const visit = await visitShare(browser, fake);
    await visit.page.waitForSelector(shareButtonSelector);
    await letTimersRun(visit);
    expect(await visit.page.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie])).toEqual([0, 0, ""]);
    expect(fake.loaded.filter((path) => !path.endsWith(".js"))).toEqual([]);
    await visit.close();
  });
});

describe("the button stands", () => {
  const placeOf = (page: Page): Promise<string> =>
    page.evaluate((wanted) => {
      const root = document.querySelector(wanted)?.parentElement;
      return `${root?.parentElement?.id || root?.parentElement?.tagName} after ${root?.previousElementSibling?.tagName}`;
    }, shareButtonSelector);
  const headed = (script: string, body: string): string =>
    `<!doctype html><html lang="en"><head><title>Quote</title>${script}</head><body>${body}</body></html>`;

  test.each([
    ["where the tag stands", () => sharePage(fake), "MAIN after SCRIPT"],
    [
      "where the tag stands, in its form",
      () => headed("", shareForm.replace("</form>", `${renderShareTag(fake.service)}</form>`)),
      "lead after SCRIPT",
    ],
    ["at the top of the form, where the tag is in the head", () => headed(renderShareTag(fake.service), shareForm), "lead after undefined"],
    [
      "at the top of the selected form",
      () => headed(renderShareTag(fake.service, { "data-form-selector": "#lead" }), `<form></form>${shareForm}`),
      "lead after undefined",
    ],
    ["where an async tag stands", () => sharePage(fake).replace("<script ", "<script async "), "MAIN after SCRIPT"],
    ["where a module's tag stands", () => sharePage(fake).replace("<script ", '<script type="module" '), "MAIN after SCRIPT"],
  ])("%s", async (_where, html, place) => {
    fake.settings.html = html();
    const visit = await visitShare(browser, fake);
    await visit.page.waitForSelector(shareButtonSelector);
    expect(await placeOf(visit.page)).toBe(place);
    await share(visit);
    expect(await visit.page.locator(shareButtonSelector).count()).toBe(1);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  test("where a tag manager adds its tag long after another tag of ours has run", async () => {
    fake.settings.html = sharePage(fake, { attributes: { "data-mode": "consent" } });
    const visit = await visitShare(browser, fake);
    await visit.page.waitForFunction("window.Svc && window.Svc.v");
    await visit.page.evaluate(
      ([src, place]) => {
        const tag = document.createElement("script");
        const attributes = {
          "data-client-id": "pc_test_00share",
          "data-mode": "share",
          "data-purpose": "late",
          "data-scope": "name email phone",
        };
        for (const [name, value] of Object.entries(attributes)) tag.setAttribute(name, value);
        tag.src = src!;
        document.querySelector(place!)?.append(tag);
      },
      [`${fake.service}/v1/svc.js`, "main"],
    );
    await share(visit);
    expect(await visit.page.locator(shareButtonSelector).count()).toBe(1);
    await visit.close();
  });

  test("nowhere, and that is said, on a page that has neither place nor form", async () => {
    fake.settings.html = headed(renderShareTag(fake.service), "<p>Nothing here.</p>");
    const visit = await visitShare(browser, fake);
    await expect.poll(() => visit.warnings).toEqual(["svc.js: the share button has no place: move the script tag into the body"]);
    await visit.close();
  });

  test("once, where two copies of the script meet the same tags", async () => {
    const twice = renderShareTag(fake.service) + renderShareTag(fake.service).replace("/svc.js", "/svc.js?other=1");
    fake.settings.html = headed("", shareForm + twice);
    const visit = await visitShare(browser, fake);
    await visit.page.waitForSelector(shareButtonSelector);
    await letTimersRun(visit);
    expect(await visit.page.locator(shareButtonSelector).count()).toBe(2);
    await visit.close();
  });
});

describe("what is asked for", () => {
  const askedWith = async (attributes: Attributes, path = "/page?utm=1#offer"): Promise<URLSearchParams> => {
    fake.settings.html = sharePage(fake, { attributes });
    const visit = await visitShare(browser, fake, { path });
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("#share");
    await visit.close();
    return fake.sheetRequests[0]!.query;
  };

  test("is the whole request, by its names", async () => {
    const query = await askedWith({ "data-duration-days": "30", "data-disclosure-text": "We call you." });
    const { code_challenge, state, ...others } = Object.fromEntries(query);
    expect(others).toEqual({
      client_id: "pc_test_00share",
      origin: fake.site,
      scope: "name email phone?",
      purpose: "solar quote",
      code_challenge_method: "S256",
      locale: "en",
      display: "popup",
      duration_days: "30",
      disclosure_text: "We call you.",
      return_url: `${fake.site}/page?utm=1`,
    });
    for (const text of [code_challenge, state]) expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test("leaves out what the page does not say", async () => {
    const query = await askedWith({});
    expect([query.has("duration_days"), query.has("disclosure_text")]).toEqual([false, false]);
  });

  test.each([
    ["email,phone , name", undefined, "email phone name"],
    ["email phone?", undefined, "email phone?"],
    ["name email phone", "email", "first_name? last_name? email phone?"],
    ["address email", "zip,email", "address_line1? address_line2? city? state? zip country? email"],
    ["first_name last_name phone", "name", "first_name last_name phone?"],
    ["email? phone", "", "email? phone?"],
    ["email? phone", "email", "email phone?"],
  ])("scope “%s”, needed %o: %s", async (scope, needed, sent) => {
    expect((await askedWith({ "data-scope": scope, "data-needed": needed })).get("scope")).toBe(sent);
  });

  test("is asked, and its answer believed, at the address that the page names", async () => {
    const other = fake.service.replace("127.0.0.1", "localhost");
    fake.settings.html = sharePage(fake, { attributes: { "data-app-base": `${other}/`, "data-api-base": `${fake.service}/v1` } });
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    expect(new URL(sheet.url()).origin).toBe(other);
    await Promise.all([sheet.waitForEvent("close"), sheet.click("#share")]);
    await visit.waitForEvent("svc:share");
    await visit.close();
  });

  test("an address of the page that is too long comes back without its query", async () => {
    const query = await askedWith({}, `/page?${"a".repeat(2_100)}`);
    expect(query.get("return_url")).toBe(`${fake.site}/page`);
  });

  test("the disclosure is what is displayed, in one line", async () => {
    fake.settings.html = sharePage(fake, {
      body: `<p id="terms">We  may <b>call</b>\n you.<span style="display:none">hidden</span></p>${shareForm}`,
      attributes: { "data-disclosure-selector": "#terms", "data-disclosure-text": "literal" },
    });
    const visit = await visitShare(browser, fake);
    await (await visit.openSheet()).waitForSelector("#share");
    expect(fake.sheetRequests[0]?.query.get("disclosure_text")).toBe("We may call you.");
    await visit.close();
  });

  test.each<[string, Attributes, string]>([
    ["no scope", { "data-scope": " , " }, "data-client-id, data-purpose or data-scope is missing: set it"],
    ["no purpose", { "data-purpose": "" }, "data-client-id, data-purpose or data-scope is missing: set it"],
    [
      "a disclosure that is not displayed",
      { "data-disclosure-selector": "#nowhere" },
      "no disclosure is displayed: set data-disclosure-selector",
    ],
    ["a disclosure selector that is none", { "data-disclosure-selector": "p[[" }, "data-disclosure-selector is not valid: correct it"],
    ["a disclosure that is too long", { "data-disclosure-text": "x".repeat(6_001) }, "the disclosure is too long: shorten it"],
    [
      "a disclosure whose letters make the address too long",
      { "data-disclosure-text": "同".repeat(2_000) },
      "the disclosure is too long: shorten it",
    ],
  ])("nothing with %s: said to the page and, once, to its owner", async (_what, attributes, message) => {
    fake.settings.html = sharePage(fake, { attributes });
    const visit = await visitShare(browser, fake);
    await visit.page.click(shareButtonSelector);
    await visit.page.click(shareButtonSelector);
    expect((await visit.waitForEvent("svc:share-error", 2)).detail).toEqual({ code: "config", message });
    expect(visit.warnings).toEqual([`svc.js: ${message}`]);
    expect([fake.sheetRequests, visit.context.pages().length]).toEqual([[], 1]);
    await visit.close();
  });

  test("at most three requests are remembered, and none for more than an hour", async () => {
    const visit = await visitShare(browser, fake, { before: "window.open = () => null" });
    await visit.page.waitForSelector(shareButtonSelector);
    await visit.page.evaluate(() => {
      const record = (started: number) => JSON.stringify({ started, address: "https://x.example", options: {}, key: "other" });
      for (let age = 1; age <= 4; age++)
        sessionStorage.setItem(`svc:share:recent${age}`, record(Date.now() - age * 1_000).replace("{", `{"state":"recent${age}",`));
      sessionStorage.setItem("svc:share:old", record(Date.now() - 3_700_000).replace("{", '{"state":"old",'));
      sessionStorage.setItem("other", "mine");
    });
    await visit.page.click(shareButtonSelector);
    await visit.waitForEvent("svc:share-error");
    const keys = await visit.page.evaluate(() => Object.keys(sessionStorage).sort());
    expect(keys.filter((key) => /recent|old|other/.test(key))).toEqual(["other", "svc:share:recent1", "svc:share:recent2"]);
    expect(keys).toHaveLength(4);
    await visit.close();
  });
});

describe("the form is filled", () => {
  const filledWith = async (body: string, attributes: Attributes = {}): Promise<ShareVisit> => {
    fake.settings.html = sharePage(fake, { body, attributes });
    const visit = await visitShare(browser, fake);
    await share(visit);
    return visit;
  };

  test("only where nothing stands", async () => {
    const visit = await filledWith(shareForm.replace('name="email"', 'name="email" value="mine@example.com"'));
    expect(await readFormValues(visit.page)).toMatchObject({ ...filledValues, email: "mine@example.com" });
    await visit.close();
  });

  test("with the events of typing, past what a framework keeps on the element", async () => {
    const watching = `<script>{
      window.typed = [];
      const email = document.querySelector('[name=email]'), { get, set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
      Object.defineProperty(email, 'value', { configurable: true, get() { return get.call(this) }, set(value) { typed.push('tracked'); set.call(this, value) } });
      for (const type of ['input', 'change']) document.addEventListener(type, ({ target }) => typed.push(type + ' ' + target.name + ' ' + target.value));
    }</script>`;
    const visit = await filledWith(`<form id="lead"><input name="email" type="email" aria-label="E-mail"></form>${watching}`);
    expect(await visit.page.evaluate("typed")).toEqual(["input email pat@example.com", "change email pat@example.com"]);
    await visit.close();
  });

  test("by the map first; boxes, hidden and read-only fields, and what is not shared, are left alone", async () => {
    const body = `<form id="lead"><input id="x1" name="x1"><input type="checkbox" name="ok" id="ok" value="yes"><input type="hidden" name="phone">
      <input name="first_name" readonly><input name="city"><input name="last_name"><input name="svc_share_id" type="text" value="old">
      <input type="password" name="pw" id="pw"></form>`;
    const visit = await filledWith(body, { "data-field-map": JSON.stringify({ "#x1": "email", "#ok": "phone", "#pw": "phone" }) });
    const { detail } = await visit.waitForEvent("svc:share");
    expect(await readFormValues(visit.page)).toEqual({
      x1: "pat@example.com",
      phone: "",
      first_name: "",
      city: "",
      last_name: "Sample",
      svc_share_id: detail.share_id,
      pw: "",
    });
    await visit.close();
  });

  test("one field for the name gets both parts, a list the entry that says the same", async () => {
    const body = `<form id="lead"><input name="name" autocomplete="name"><select name="country"><option value="">Choose</option><option value="us">USA</option></select>
      <select name="phone"><option value="">Choose</option><option>other</option></select></form>`;
    const visit = await filledWith(body, { "data-scope": "name country phone" });
    expect(await readFormValues(visit.page)).toMatchObject({ name: "Pat Sample", country: "us", phone: "" });
    await visit.close();
  });

  test("where names of its fields shadow the form's own members", async () => {
    const shadows = ["dispatchEvent", "appendChild", "elements", "querySelector", "prepend"]
      .map((name) => `<input name="${name}">`)
      .join("");
    const visit = await filledWith(`<form id="lead">${shadows}<input name="email" type="email"></form>`);
    expect(await readFormValues(visit.page)).toMatchObject({ email: "pat@example.com", svc_share_id: expect.stringMatching(/^shr_/) });
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  test("that is drawn after the answer has come back", async () => {
    fake.settings.html = sharePage(fake, { body: shareForm, attributes: { "data-form-selector": "#lead" } });
    const visit = await visitShare(browser, fake, { before: "window.open = (url) => { location.href = url; return null }" });
    await visit.page.click(shareButtonSelector);
    await visit.page.waitForURL(/\/authorize/);
    fake.settings.html = sharePage(fake, {
      body: `<div id="host"></div><script>setTimeout(() => { host.innerHTML = ${JSON.stringify(shareForm)} }, 1500)</script>`,
      attributes: { "data-form-selector": "#lead" },
    });
    await visit.page.click("#share");
    await visit.waitForEvent("svc:share");
    expect(await readFormValues(visit.page)).toMatchObject(filledValues);
    await visit.close();
  });

  test("or there is none: the event comes from the button and holds all", async () => {
    const visit = await filledWith("<p>No form here.</p>");
    const event = await visit.waitForEvent("svc:share");
    expect([event.from, event.detail.scope]).toEqual(["svc-share", ["name", "email", "phone?"]]);
    expect(event.detail.fields).toMatchObject(filledValues);
    await visit.close();
  });
});

describe("B31 the button", () => {
  test.each([
    ["en", "Share my contact details"],
    ["es-MX", "Compartir mis datos de contacto"],
    ["fr-CA", "Partager mes coordonnées"],
    ["de", "Share my contact details"],
  ])("speaks the page's language: %s", async (lang, label) => {
    fake.settings.html = sharePage(fake, { lang });
    const visit = await visitShare(browser, fake);
    await visit.page.getByRole("button", { name: label, exact: true }).waitFor();
    expect(await visit.page.getAttribute(".svc-share", "lang")).toBe(lang === "de" ? "en" : lang.slice(0, 2));
    await visit.close();
  });

  test.each(["light", "dark"] as const)("and its links fit 320 pixels, are reached by keyboard, and pass axe (%s)", async (colorScheme) => {
    // The button brings no style along: a page that sizes its buttons sizes this one.
    fake.settings.html = sharePage(fake).replace(
      "<title>",
      "<style>:root { color-scheme: light dark; background: light-dark(#fff, #111) } button, .svc-share a { display: block; padding: 0.6rem }</style><title>",
    );
    const visit = await visitShare(browser, fake, {
      before: "window.open = () => null",
      options: { viewport: { width: 320, height: 640 }, colorScheme },
    });
    const { page } = visit;
    await page.waitForSelector(shareButtonSelector);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.focus("[name=phone]");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.locator(".svc-share [role=status]").textContent()).toBe("The window was blocked. Choose one:");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Share my contact details");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await hasNoHorizontalScroll(page)).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await Promise.all([page.waitForURL(/\/authorize/), page.keyboard.press("Enter")]);
    await visit.close();
  });

  test("is no submit button: a form around it is not sent", async () => {
    fake.settings.html = `<!doctype html><html lang="en"><title>Quote</title><form id="lead" action="/elsewhere"><input name="email" aria-label="E-mail">${renderShareTag(fake.service)}</form>`;
    const visit = await visitShare(browser, fake);
    await share(visit);
    expect(new URL(visit.page.url()).pathname).toBe("/page");
    await visit.close();
  });
});
