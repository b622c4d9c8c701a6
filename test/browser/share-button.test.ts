// Tests share mode on the business's page against a fake service: loading the script, placing the button, making the request, and filling
// in the form.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { findAccessibilityIssues, hasNoHorizontalScroll, launchBrowser } from "../support/browser.ts";
import { startFakeService } from "../support/fake-sheet.ts";
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

const [fake, browser] = await Promise.all([startFakeService(), launchBrowser()]);
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

describe("the share script", () => {
  const listLoadedParts = (): string[] => fake.loaded.filter((path) => path.includes("svc-share"));

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
    expect(listLoadedParts()).toEqual([expect.stringMatching(/^\/v1\/svc-share-[0-9a-f]{12}\.js$/)]);
    expect(await visit.page.locator(shareButtonSelector).count()).toBe(2);
    await visit.close();
  });

  test("warns the owner when it cannot be loaded, and the form still works", async () => {
    const visit = await visitShare(browser, fake, { path: "/elsewhere" });
    await visit.page.route("**/svc-share-*", (route) => route.abort());
    await visit.page.goto(`${fake.site}/page`);
    await expect.poll(() => visit.warnings).toEqual(["svc.js: svc-share.js is not loaded: allow it in your CSP"]);
    expect([visit.errors, await visit.page.locator(shareButtonSelector).count()]).toEqual([[], 0]);
    await visit.close();
  });

  test("stores nothing and sends no request before a click", async () => {
    const visit = await visitShare(browser, fake);
    await visit.page.waitForSelector(shareButtonSelector);
    await letTimersRun(visit);
    expect(await visit.page.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie])).toEqual([0, 0, ""]);
    expect(fake.loaded.filter((path) => !path.endsWith(".js"))).toEqual([]);
    await visit.close();
  });
});

describe("the button is placed", () => {
  const placeOf = (page: Page): Promise<string> =>
    page.evaluate((wanted) => {
      const root = document.querySelector(wanted)?.parentElement;
      return `${root?.parentElement?.id || root?.parentElement?.tagName} after ${root?.previousElementSibling?.tagName}`;
    }, shareButtonSelector);
  const renderPage = (script: string, body: string): string =>
    `<!doctype html><html lang="en"><head><title>Quote</title>${script}</head><body>${body}</body></html>`;

  test.each([
    ["where the tag is", () => sharePage(fake), "MAIN after SCRIPT"],
    [
      "where the tag is, inside its form",
      () => renderPage("", shareForm.replace("</form>", `${renderShareTag(fake.service)}</form>`)),
      "lead after SCRIPT",
    ],
    [
      "at the top of the form, where the tag is in the head",
      () => renderPage(renderShareTag(fake.service), shareForm),
      "lead after undefined",
    ],
    [
      "at the top of the selected form",
      () => renderPage(renderShareTag(fake.service, { "data-form-selector": "#lead" }), `<form></form>${shareForm}`),
      "lead after undefined",
    ],
    ["where an async tag is", () => sharePage(fake).replace("<script ", "<script async "), "MAIN after SCRIPT"],
    ["where a module's tag is", () => sharePage(fake).replace("<script ", '<script type="module" '), "MAIN after SCRIPT"],
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

  test("once, if the page is replaced by a copy of itself, as after the Back button with Turbo", async () => {
    const visit = await visitShare(browser, fake);
    await visit.page.waitForSelector(shareButtonSelector);
    await visit.page.evaluate(() => {
      const copy = document.body.cloneNode(true) as HTMLBodyElement;
      for (const old of copy.querySelectorAll("script")) {
        const tag = document.createElement("script");
        for (const { name, value } of old.attributes) tag.setAttribute(name, value);
        old.replaceWith(tag);
      }
      const last = copy.querySelector("script") as HTMLScriptElement;
      last.onload = () => setTimeout(() => document.body.setAttribute("data-is-loaded", ""), 200);
      document.body.replaceWith(copy);
    });
    await visit.page.waitForSelector("[data-is-loaded]");
    expect(await visit.page.locator(shareButtonSelector).count()).toBe(1);
    await share(visit);
    expect(await readFormValues(visit.page)).toMatchObject(filledValues);
    await visit.close();
  });

  test("where a tag manager adds its tag, long after another svc tag has run", async () => {
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

  test("nowhere on a page whose body has neither the tag nor a form, and a warning says so", async () => {
    fake.settings.html = renderPage(renderShareTag(fake.service), "<p>Nothing here.</p>");
    const visit = await visitShare(browser, fake);
    await expect.poll(() => visit.warnings).toEqual(["svc.js: the share button has no place: move the script tag into the body"]);
    await visit.close();
  });

  test("once per tag when two copies of the script find the same tags", async () => {
    const twice = renderShareTag(fake.service) + renderShareTag(fake.service).replace("/svc.js", "/svc.js?other=1");
    fake.settings.html = renderPage("", shareForm + twice);
    const visit = await visitShare(browser, fake);
    await visit.page.waitForSelector(shareButtonSelector);
    await letTimersRun(visit);
    expect(await visit.page.locator(shareButtonSelector).count()).toBe(2);
    await visit.close();
  });
});

describe("the request", () => {
  const requestWith = async (attributes: Attributes, path = "/page?utm=1#offer"): Promise<URLSearchParams> => {
    fake.settings.html = sharePage(fake, { attributes });
    const visit = await visitShare(browser, fake, { path });
    const sheet = await visit.openSheet();
    await sheet.waitForSelector("#share");
    await visit.close();
    return fake.sheetRequests[0]!.query;
  };

  test("has all parameters", async () => {
    const query = await requestWith({ "data-duration-days": "30", "data-disclosure-text": "We call you." });
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

  test("omits what the page does not specify", async () => {
    const query = await requestWith({});
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
  ])("turns scope “%s” and needed %o into %s", async (scope, needed, sent) => {
    expect((await requestWith({ "data-scope": scope, "data-needed": needed })).get("scope")).toBe(sent);
  });

  test("goes to the app URL that the page configures, and the answer is accepted from there", async () => {
    const other = fake.service.replace("127.0.0.1", "localhost");
    fake.settings.html = sharePage(fake, { attributes: { "data-app-base": `${other}/`, "data-api-base": `${fake.service}/v1` } });
    const visit = await visitShare(browser, fake);
    const sheet = await visit.openSheet();
    expect(new URL(sheet.url()).origin).toBe(other);
    await Promise.all([sheet.waitForEvent("close"), sheet.click("#share")]);
    await visit.waitForEvent("svc:share");
    await visit.close();
  });

  test("returns to the page's URL without its query when the URL is too long", async () => {
    const query = await requestWith({}, `/page?${"a".repeat(2_100)}`);
    expect(query.get("return_url")).toBe(`${fake.site}/page`);
  });

  test("contains the displayed disclosure in one line", async () => {
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
    ["an invalid disclosure selector", { "data-disclosure-selector": "p[[" }, "data-disclosure-selector is invalid: correct it"],
    ["a disclosure that is too long", { "data-disclosure-text": "x".repeat(6_001) }, "the disclosure is too long: shorten it"],
    [
      "a disclosure whose characters make the URL too long",
      { "data-disclosure-text": "同".repeat(2_000) },
      "the disclosure is too long: shorten it",
    ],
  ])("is not sent with %s: the page gets an event, and its owner one warning", async (_what, attributes, message) => {
    fake.settings.html = sharePage(fake, { attributes });
    const visit = await visitShare(browser, fake);
    await visit.page.click(shareButtonSelector);
    await visit.page.click(shareButtonSelector);
    expect((await visit.waitForEvent("svc:share-error", 2)).detail).toEqual({ code: "config", message });
    expect(visit.warnings).toEqual([`svc.js: ${message}`]);
    expect([fake.sheetRequests, visit.context.pages().length]).toEqual([[], 1]);
    await visit.close();
  });

  test("is stored with at most two others, and for at most one hour", async () => {
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

describe("filling the form", () => {
  const fillForm = async (body: string, attributes: Attributes = {}): Promise<ShareVisit> => {
    fake.settings.html = sharePage(fake, { body, attributes });
    const visit = await visitShare(browser, fake);
    await share(visit);
    return visit;
  };

  test("keeps values that are already there", async () => {
    const visit = await fillForm(shareForm.replace('name="email"', 'name="email" value="mine@example.com"'));
    expect(await readFormValues(visit.page)).toMatchObject({ ...filledValues, email: "mine@example.com" });
    await visit.close();
  });

  test("fires input and change events, and bypasses a framework's value tracking", async () => {
    const watching = `<script>{
      window.typed = [];
      const email = document.querySelector('[name=email]'), { get, set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
      Object.defineProperty(email, 'value', { configurable: true, get() { return get.call(this) }, set(value) { typed.push('tracked'); set.call(this, value) } });
      for (const type of ['input', 'change']) document.addEventListener(type, ({ target }) => typed.push(type + ' ' + target.name + ' ' + target.value));
    }</script>`;
    const visit = await fillForm(`<form id="lead"><input name="email" type="email" aria-label="E-mail"></form>${watching}`);
    expect(await visit.page.evaluate("typed")).toEqual(["input email pat@example.com", "change email pat@example.com"]);
    await visit.close();
  });

  test("applies the field map first, and skips checkboxes, hidden and read-only fields, and fields that were not shared", async () => {
    const body = `<form id="lead"><input id="x1" name="x1"><input type="checkbox" name="ok" id="ok" value="yes"><input type="hidden" name="phone">
      <input name="first_name" readonly><input name="city"><input name="last_name"><input name="svc_share_id" type="text" value="old">
      <input type="password" name="pw" id="pw"></form>`;
    const visit = await fillForm(body, { "data-field-map": JSON.stringify({ "#x1": "email", "#ok": "phone", "#pw": "phone" }) });
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

  test("puts both names into a single name field, and selects the matching list entry", async () => {
    const body = `<form id="lead"><input name="name" autocomplete="name"><select name="country"><option value="">Choose</option><option value="us">USA</option></select>
      <select name="phone"><option value="">Choose</option><option>other</option></select></form>`;
    const visit = await fillForm(body, { "data-scope": "name country phone" });
    expect(await readFormValues(visit.page)).toMatchObject({ name: "Pat Sample", country: "us", phone: "" });
    await visit.close();
  });

  test("works when field names shadow the form's own members", async () => {
    const shadows = ["dispatchEvent", "appendChild", "elements", "querySelector", "prepend"]
      .map((name) => `<input name="${name}">`)
      .join("");
    const visit = await fillForm(`<form id="lead">${shadows}<input name="email" type="email"></form>`);
    expect(await readFormValues(visit.page)).toMatchObject({ email: "pat@example.com", svc_share_id: expect.stringMatching(/^shr_/) });
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  test("fills a form that is rendered after the answer has returned", async () => {
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

  test("fires the event from the button with all fields when there is no form", async () => {
    const visit = await fillForm("<p>No form here.</p>");
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
  ])("is in the page's language: %s", async (lang, label) => {
    fake.settings.html = sharePage(fake, { lang });
    const visit = await visitShare(browser, fake);
    await visit.page.getByRole("button", { name: label, exact: true }).waitFor();
    expect(await visit.page.getAttribute(".svc-share", "lang")).toBe(lang === "de" ? "en" : lang.slice(0, 2));
    await visit.close();
  });

  test.each(["light", "dark"] as const)(
    "fits 320 pixels with its links, is reachable by keyboard, and passes axe (%s)",
    async (colorScheme) => {
      // The button has no styles of its own, so the page's button styles apply.
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
      expect(await findAccessibilityIssues(page)).toEqual([]);
      await page.focus("[name=phone]");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(await page.locator(".svc-share [role=status]").textContent()).toBe("Your browser blocked the window. Choose one:");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Share my contact details");
      expect(await findAccessibilityIssues(page)).toEqual([]);
      expect(await hasNoHorizontalScroll(page)).toBe(true);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await Promise.all([page.waitForURL(/\/authorize/), page.keyboard.press("Enter")]);
      await visit.close();
    },
  );

  test("does not submit a form around it", async () => {
    fake.settings.html = `<!doctype html><html lang="en"><title>Quote</title><form id="lead" action="/elsewhere"><input name="email" aria-label="E-mail">${renderShareTag(fake.service)}</form>`;
    const visit = await visitShare(browser, fake);
    await share(visit);
    expect(new URL(visit.page.url()).pathname).toBe("/page");
    await visit.close();
  });
});
