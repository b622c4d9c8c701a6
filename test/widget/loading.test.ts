// Tests how pages load the script, which form the script certifies, and the options of Svc.initConsent.

import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { extractCertificates } from "./received.ts";
import {
  defaultAttributes,
  buildInitScript,
  createHeldResponse,
  openWorld,
  buildPlainForm,
  press,
  buildSuccess,
  buildScriptTag,
  tickAndClick,
} from "./support.ts";

const world = await openWorld();
// Only the POST request itself may reach the API: no preflight, prefetch or beacon.
afterAll(() => expect(world.strays).toEqual([]));

const listAttributes = (overrides: Record<string, string | undefined> = {}) =>
  Object.entries({ ...defaultAttributes, ...overrides }).filter(([, value]) => value !== undefined);

/** Builds an inline script that adds the tag, as tag managers do. */
const buildInjectedScript = (then = "", overrides: Record<string, string | undefined> = {}) => `<script>{
  const tag = document.createElement('script')
  for (const [name, value] of ${JSON.stringify(listAttributes(overrides))}) tag.setAttribute(name, value)
  tag.src = '{{src}}'; tag.onload = () => { ${then}; window.isLoaded = true }; document.head.append(tag) }</script>`;

describe("the script certifies when it is loaded", () => {
  const ways: [string, string, string?][] = [
    ["in the head", buildScriptTag("{{src}}")],
    ["after the form", "", buildScriptTag("{{src}}")],
    ["with async", buildScriptTag("{{src}}").replace("<script", "<script async")],
    ["with defer", buildScriptTag("{{src}}").replace("<script", "<script defer")],
    ["as a module", buildScriptTag("{{src}}").replace("<script", '<script type="module"')],
    ["by a tag manager", "", buildInjectedScript()],
    ["by a loader that removes the tag afterward", "", buildInjectedScript("tag.remove()")],
    ["under the address with its hash", buildScriptTag("{{api}}/v1/svc-0123456789ab.js")],
    // A module has no document.currentScript, so its tag can be recognized only by its URL.
    ["as a module under that address", buildScriptTag("{{api}}/v1/svc-0123456789ab.js").replace("<script", '<script type="module"')],
    ["under an address of the site's own choosing", buildScriptTag("{{api}}/assets/consent.js")],
    ["as a module with a query after its name", buildScriptTag("{{api}}/v1/svc.js?ver=6.5").replace("<script", '<script type="module"')],
    [
      "from a stub queue",
      `<script>window.Svc = { q: [{ clientId: 'pc_1', purpose: 'p', entities: 'A', checkboxSelector: '#consent', disclosureSelector: '#terms' }] }</script><script async src="{{src}}"></script>`,
    ],
    ["by Svc.initConsent", buildInitScript("")],
    [
      "by Svc.initConsent from a module",
      buildInitScript("").replace("<script src", '<script type="module" src').replace("<script>", '<script type="module">'),
    ],
    [
      "by a tag whose attributes arrive after it",
      "",
      buildInjectedScript("tag.setAttribute('data-client-id', 'pc_late')", { "data-client-id": undefined }),
    ],
  ];
  it.each(ways)("%s", async (_how, script, after = "") => {
    const visit = await world.visit({
      html: `{{widget}}${buildPlainForm()}${after.replaceAll("{{src}}", `${world.api}/v1/svc.js`)}`,
      script,
    });
    await visit.page.waitForFunction(after.includes("isLoaded") ? "window.isLoaded" : "window.Svc && window.Svc.v");
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect([visit.calls.length, visit.errors]).toEqual([1, []]);
    await visit.close();
  });

  it.each([
    ["before a form that is inserted later", buildScriptTag("{{src}}")],
    [
      "and its tag removed again before a form that is inserted later",
      `${buildScriptTag("{{src}}")}<script>document.currentScript.previousSibling.remove()</script>`,
    ],
    [
      "and another tag, for this form, arrives after it",
      `${buildScriptTag("{{src}}", { "data-form-selector": "#none" })}${buildInjectedScript("", { "data-form-selector": "#lead" })}`,
    ],
  ])("%s", async (_when, script) => {
    const visit = await world.visit({ html: `{{widget}}<div id="host"></div>`, script });
    await visit.page.evaluate(
      (html) => {
        document.querySelector("#host")!.innerHTML = html;
      },
      buildPlainForm().replace("{{action}}", visit.url.replace("/page/", "/backend/")),
    );
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    await visit.close();
  });
});

describe("one submission is certified once", () => {
  const twice: [string, string][] = [
    ["the same tag twice", buildScriptTag("{{src}}") + buildScriptTag("{{src}}")],
    ["two versions of the script", buildScriptTag("{{src}}") + buildScriptTag("{{api}}/v1/svc-0123456789ab.js")],
    ["a tag and initConsent for the same form", buildScriptTag("{{src}}") + buildInitScript("")],
  ];
  it.each(twice)("with %s", async (_what, script) => {
    const visit = await world.visit({ html: buildPlainForm(), script });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect([visit.calls.length, visit.events.length]).toEqual([1, 1]);
    await visit.close();
  });
});

describe("the target form", () => {
  const second = buildPlainForm()
    .replace('id="lead"', 'id="second" class="x"')
    .replaceAll(/id="(consent|terms|send)"/g, 'id="$12"')
    .replace('for="consent"', 'for="consent2"');

  it("is the first on the page by default; other forms are not changed", async () => {
    const visit = await world.visit({ html: buildPlainForm() + second });
    await press(visit.page, "#consent2");
    await press(visit.page, "#send2");
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    expect([visit.calls, visit.events]).toEqual([[], []]);
    await visit.close();
  });

  it("is set by a selector, and two tags serve two forms with different options", async () => {
    const script =
      buildScriptTag("{{src}}", { "data-form-selector": "#lead", "data-purpose": "one" }) +
      buildScriptTag("{{src}}", {
        "data-form-selector": ".x",
        "data-purpose": "two",
        "data-checkbox-selector": "#consent2",
        "data-disclosure-selector": "#terms2",
      });
    const visit = await world.visit({ html: `${buildPlainForm({ form: 'target="sink"' }) + second}<iframe name="sink"></iframe>`, script });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    await press(visit.page, "#consent2");
    await press(visit.page, "#send2");
    expect(extractCertificates(await visit.submitted(2))).toHaveLength(1);
    expect(visit.calls.map(({ body }) => body.purpose)).toEqual(["one", "two"]);
    await visit.close();
  });

  it.each([
    ["a selector that matches no form", { "data-form-selector": "#nowhere" }],
    ["an invalid selector", { "data-form-selector": "form[[" }],
    ["an empty selector", { "data-form-selector": "" }],
    ["another mode", { "data-mode": "share" }],
    ["no mode", { "data-mode": undefined }],
    ["no client id attribute", { "data-client-id": undefined }],
  ])("is none with %s: the form is submitted normally, without an event", async (_what, overrides) => {
    const visit = await world.visit({ html: buildPlainForm(), widget: overrides });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    expect([visit.calls, visit.events, visit.errors]).toEqual([[], [], []]);
    await visit.close();
  });

  it.each([
    ["an empty client id", { "data-client-id": "" }],
    ["no purpose", { "data-purpose": undefined }],
    ["no recipients", { "data-entities": " , " }],
  ])("is not certified with %s, which an event reports", async (_what, overrides) => {
    const visit = await world.visit({ html: buildPlainForm(), widget: overrides });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    expect([visit.calls, visit.events.map(({ detail }) => detail.code)]).toEqual([[], ["config"]]);
    await visit.close();
  });

  it("gets the options of the tag that is on the page, not those of a tag that the page has replaced", async () => {
    const visit = await world.visit({ html: `<div id="host">${buildPlainForm()}</div>`, script: buildScriptTag("{{src}}") });
    await visit.page.evaluate(
      (overrides) => {
        const old = document.querySelector("script[data-client-id]")!;
        const tag = document.createElement("script");
        for (const { name, value } of old.attributes) tag.setAttribute(name, value);
        for (const [name, value] of Object.entries(overrides)) tag.setAttribute(name, value);
        old.replaceWith(tag);
        const host = document.querySelector("#host")!;
        host.replaceChildren(host.firstElementChild!.cloneNode(true)); // as Turbo does: the next page has its own form and its own tag
      },
      { "data-purpose": "roof quote", "data-entities": "Roof Co" },
    );
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.calls.map(({ body }) => [body.purpose, body.entities])).toEqual([["roof quote", ["Roof Co"]]]);
    await visit.close();
  });

  it("gets the options of the tag whose selector matches its form if the head still has the tag of another page", async () => {
    const visit = await world.visit({ html: buildPlainForm(), widget: { "data-form-selector": "#lead" } });
    await visit.page.evaluate(
      (overrides) => {
        const old = document.querySelector("script[data-client-id]")!;
        const tag = document.createElement("script");
        for (const { name, value } of old.attributes) tag.setAttribute(name, value);
        for (const [name, value] of Object.entries(overrides)) tag.setAttribute(name, value);
        document.head.append(old, tag); // as Turbo does: the head keeps the tag of the previous page
        const form = document.querySelector("form")!;
        const next = form.cloneNode(true) as HTMLFormElement;
        next.id = "roof";
        form.replaceWith(next);
      },
      { "data-purpose": "roof quote", "data-entities": "Roof Co", "data-form-selector": "#roof" },
    );
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.calls.map(({ body }) => [body.purpose, body.entities])).toEqual([["roof quote", ["Roof Co"]]]);
    await visit.close();
  });

  it("may be missing without an error", async () => {
    const visit = await world.visit({ html: "<p>No form here.</p>" });
    await press(visit.page, "p");
    expect([visit.calls, visit.errors]).toEqual([[], []]);
    await visit.close();
  });
});

describe("submissions go only to the service", () => {
  it.each([
    [
      "markup that stands in for document.currentScript",
      { html: `<img name="currentScript" src="/elsewhere">{{widget}}${buildPlainForm()}`, script: buildInitScript("") },
    ],
    [
      "an address that a careless library left on Object.prototype",
      { html: buildPlainForm(), first: "Object.prototype.apiBase = location.origin + '/elsewhere'" },
    ],
  ])("despite %s", async (_what, options) => {
    const visit = await world.visit(options);
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.calls.map(({ path }) => path)).toEqual(["/v1/consent"]);
    await visit.close();
  });
});

describe("Svc.initConsent", () => {
  it("takes a form element, and null means no form instead of the first one", async () => {
    for (const [options, expected] of [
      ["form: null", 0],
      ["get form() { return document.querySelector('#lead') }", 1],
    ] as const) {
      const visit = await world.visit({ html: buildPlainForm(), script: buildInitScript(options) });
      await tickAndClick(visit.page);
      expect(extractCertificates(await visit.submitted())).toHaveLength(expected);
      await visit.close();
    }
  });

  it("sends to apiBase when it is given", async () => {
    const visit = await world.visit({ html: buildPlainForm(), script: buildInitScript("apiBase: '{{api}}/proxy/svc'") });
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.calls.map(({ path }) => path)).toEqual(["/proxy/svc/consent"]);
    await visit.close();
  });

  it("certify() certifies the form without submitting it, and destroy() stops the instance", async () => {
    const visit = await world.visit({ html: buildPlainForm(), script: buildInitScript("") });
    expect(await visit.page.evaluate("handle.certify()")).toBeNull();
    await press(visit.page, "#consent");
    const receipt = await visit.page.evaluate<{ cert_id: string }>('handle.certify(document.querySelector("form"))');
    expect(receipt).toEqual(buildSuccess(receipt.cert_id).data);
    expect(visit.events.map(({ detail }) => Object.keys(detail))).toEqual([["cert_id", "fingerprint", "verify_url"]]);
    expect(await visit.page.evaluate('new FormData(lead).get("svc_cert_id")')).toBe(receipt.cert_id);
    expect([visit.calls.length, visit.events.length, visit.backend.length]).toEqual([1, 1, 0]);

    await visit.page.evaluate('handle.destroy(); lead.querySelector("[name=svc_cert_id]").remove()');
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    await visit.close();
  });

  it("uses the newest options if it is called again for the same form", async () => {
    const again = `<script>Svc.initConsent({ clientId: 'pc_test_00widget', purpose: 'roof quote', entities: 'Roof Co',
      checkboxSelector: '#consent', disclosureSelector: '#terms' })</script>`;
    const visit = await world.visit({ html: buildPlainForm(), script: buildInitScript("") + again });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.calls.map(({ body }) => [body.purpose, body.entities])).toEqual([["roof quote", ["Roof Co"]]]);
    await visit.close();
  });

  it("certify() returns null instead of rejecting when it fails", async () => {
    const visit = await world.visit({ html: buildPlainForm(), script: buildInitScript(""), respond: () => ({ status: 500, body: "" }) });
    await press(visit.page, "#consent");
    expect(await visit.page.evaluate("handle.certify()")).toBeNull();
    await visit.close();
  });
});

describe("programmaticSubmit", () => {
  const link = '<a href="#" id="send">Send</a>';
  const script = buildInitScript("programmaticSubmit: true");
  const ways: [string, string, string?][] = [
    ["form.submit()", `${buildPlainForm({ button: link })}<script>send.onclick = () => lead.submit()</script>`],
    [
      "the attribute",
      `${buildPlainForm({ button: link })}<script>send.onclick = () => lead.submit()</script>`,
      buildScriptTag("{{src}}", { "data-programmatic-submit": "" }),
    ],
    [
      "jQuery-like trigger, which calls the form's own submit",
      `${buildPlainForm({ button: link })}<script>send.onclick = () => { if (typeof lead['submit'] === 'function') lead['submit']() }</script>`,
    ],
    [
      "a form that arrives late",
      `<div id="host"></div><script>setTimeout(() => { host.innerHTML = ${JSON.stringify(buildPlainForm({ button: link }))}; send.onclick = () => lead.submit() })</script>`,
    ],
    [
      "a handler that cancels and then calls form.submit(): one call",
      `${buildPlainForm()}<script>lead.onsubmit = (event) => { event.preventDefault(); setTimeout(() => lead.submit(), 50) }</script>`,
    ],
  ];
  it.each(ways)("certifies %s", async (_how, html, tag = script) => {
    const visit = await world.visit({ html, script: tag, delayMs: 60 });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect([visit.calls.length, visit.errors]).toEqual([1, []]);
    await visit.close();
  });

  it("certifies a form once if form.submit() is called again while it is held", async () => {
    const { release, respond } = createHeldResponse();
    const html = `${buildPlainForm({ button: link })}<script>send.onclick = () => lead.submit()</script>`;
    const visit = await world.visit({ html, script, respond });
    await tickAndClick(visit.page);
    await visit.until(() => visit.calls.length === 1, "the call");
    await visit.page.evaluate("lead.submit()");
    release();
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect([visit.calls.length, visit.errors]).toEqual([1, []]);
    await visit.close();
  });

  it.each([
    ["the box is unticked", async () => {}, undefined],
    ["the API fails", (page: Page) => press(page, "#consent"), () => ({ status: 500, body: "" })],
    ["it was destroyed", async (page: Page) => page.evaluate("consent.click(); handle.destroy()"), undefined],
  ])("submits the form once and uncertified when %s", async (_what, prepare, respond) => {
    const html = `${buildPlainForm({ button: link })}<script>send.onclick = () => lead.submit()</script>`;
    const visit = await world.visit({ html, script, ...(respond && { respond }) });
    await prepare(visit.page);
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    await visit.close();
  });

  it("does not search the page for forms on each click unless enabled", async () => {
    const readWalksAtClick = async (script?: string) => {
      const visit = await world.visit({ html: buildPlainForm(), ...(script && { script }) });
      await visit.page.evaluate(() => {
        const look = document.querySelectorAll;
        document.querySelectorAll = (selector: string) => {
          if (selector === "form") document.documentElement.dataset.walks = "some";
          return look.call(document, selector);
        };
      });
      await press(visit.page, "#terms");
      const walks = await visit.page.evaluate(() => document.documentElement.dataset.walks ?? "none");
      await visit.close();
      return walks;
    };
    expect([await readWalksAtClick(), await readWalksAtClick(script)]).toEqual(["none", "some"]);
  });

  it("is off by default, and ignores a form with an input named submit", async () => {
    const html = buildPlainForm({ inside: '<input name="submit" value="mine">' });
    const visit = await world.visit({ html, script });
    await visit.page.evaluate("for (const id of ['consent', 'send']) document.getElementById(id).click()");
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});
