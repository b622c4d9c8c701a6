// Tests how the widget holds a submission and then submits it again. However a form is submitted, its backend receives exactly once what it
// would receive without the widget, plus one svc_cert_id.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { omitCertificate, extractCertificates } from "./received.ts";
import { type Visit, createHeldResponse, openWorld, buildPlainForm, press, waitForQuiet, terms, tickAndClick } from "./support.ts";

const world = await openWorld();

interface Way {
  name: string;
  html: string;
  act?: (page: Page) => Promise<unknown>;
  /** True if the page sends the form without a submit event, so that it is sent unchanged and without a certificate. */
  isUncertified?: boolean;
}

const link = '<a href="#" id="send">Send</a>';

const ways: Way[] = [
  { name: "a click on the button", html: buildPlainForm() },
  {
    name: "Enter in a text box, which uses the first button",
    html: buildPlainForm({ button: '<button name="go" value="1">A</button><button name="go" value="2">B</button>' }),
    act: async (page) => {
      await press(page, "#consent");
      await page.press("[name=email]", "Enter");
    },
  },
  {
    name: "requestSubmit() by a script, without a button",
    html: `${buildPlainForm({ button: link })}<script>send.onclick = () => lead.requestSubmit()</script>`,
  },
  {
    name: "button.click() by a script",
    html: `${buildPlainForm({ button: `${link}<button hidden id="real" name="go" value="1"></button>` })}
      <script>send.onclick = () => real.click()</script>`,
  },
  {
    name: "the second of two buttons of the same name",
    html: buildPlainForm({ button: '<button name="go" value="1">A</button><button id="send" name="go" value="2">B</button>' }),
  },
  {
    name: "a button with formaction, formmethod and formenctype",
    html: buildPlainForm({
      button: `<button id="send" name="go" value="1" formaction="{{action}}" formmethod="post"
        formenctype="multipart/form-data">Send</button>`,
    }).replace('action="{{action}}" method="post"', 'action="/nowhere" method="get"'),
  },
  {
    name: "a button with formtarget",
    html: `${buildPlainForm({ button: '<button id="send" name="go" formtarget="sink">Send</button>' })}<iframe name="sink"></iframe>`,
  },
  {
    name: "a button with formnovalidate, past an empty required field",
    html: buildPlainForm({
      inside: '<input name="needed" required>',
      button: '<button id="send" name="go" value="draft" formnovalidate>Send</button>',
    }),
  },
  {
    name: "an image button with its coordinates",
    html: buildPlainForm({
      button: `<input id="send" type="image" name="at" width="60" height="40" alt="Send"
        src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`,
    }),
    act: async (page) => {
      await press(page, "#consent");
      await page.click("#send", { position: { x: 20, y: 30 } });
    },
  },
  {
    name: "a button outside the form, tied by form=",
    html: `${buildPlainForm({ button: "" })}<button id="send" form="lead" name="go" value="1">Send</button>`,
  },
  {
    name: "a click on the icon inside the button",
    html: buildPlainForm({
      button: '<button name="go" value="icon"><svg id="send" width="20" height="20"><rect width="20" height="20"/></svg></button>',
    }),
  },
  {
    name: "a button the page disables one tick after the click",
    html: buildPlainForm({
      button: '<button id="send" name="go" value="1" onclick="setTimeout(() => { this.disabled = true })">Send</button>',
    }),
  },
  {
    name: "every control disabled one tick after the click, by a fieldset and one by one",
    html: `${buildPlainForm({ inside: '<fieldset id="more"><input name="city" value="Reno"></fieldset>' })}<script>
      send.onclick = () => setTimeout(() => { for (const control of lead.elements) control.disabled = true })</script>`,
  },
  {
    name: "a button removed while the form waits, with its name, value and form* attributes",
    html: buildPlainForm({
      inside: '<input name="needed" required>',
      button: `<button id="send" name="go" value="draft" formnovalidate formenctype="multipart/form-data"
        onclick="setTimeout(() => this.remove())">Send</button>`,
    }),
  },
  {
    name: "a component that adds a button, clicks it and removes it again",
    html: `${buildPlainForm({ button: link })}<script>send.onclick = () => {
      const inner = document.createElement('button'); inner.type = 'submit'; inner.name = 'go'; inner.value = 'shell'
      lead.append(inner); inner.click(); inner.remove() }</script>`,
  },
  {
    name: "a button turned into an ordinary one while the form waits",
    html: buildPlainForm({
      button: `<button id="send" name="go" value="1" onclick="setTimeout(() => { this.type = 'button' })">Send</button>`,
    }),
  },
  {
    name: "an onclick guard that refuses a second click",
    html: buildPlainForm({
      button: '<button id="send" name="go" onclick="if (window.sent) return false; window.sent = true">Send</button>',
    }),
  },
  {
    name: "page handlers in every phase",
    html: `${buildPlainForm({ inside: '<input type="hidden" name="seen" value="">' })}<script>
      const note = (phase) => () => { lead.elements.seen.value += phase }
      for (const [target, name] of [[window, 'w'], [document, 'd'], [lead, 'f']]) {
        target.addEventListener('submit', note(name + '>'), true); target.addEventListener('submit', note('<' + name)) }
      lead.onsubmit = note('=')</script>`,
  },
  {
    name: "a handler of the page that normalizes a value",
    html: `${buildPlainForm()}<script>lead.onsubmit = () => { lead.elements.phone.value = '+12025550123' }</script>`,
  },
  {
    name: "a handler that cancels, works for a while and then calls form.submit()",
    html: `${buildPlainForm({ inside: '<input type="hidden" name="token">' })}<script>lead.onsubmit = (event) => {
      event.preventDefault(); setTimeout(() => { lead.elements.token.value = 't'; lead.submit() }, 60) }</script>`,
  },
  { name: "a form sent as text/plain", html: buildPlainForm({ form: 'enctype="text/plain"' }) },
  { name: "a GET form", html: buildPlainForm().replace('method="post"', 'method="get"') },
  {
    name: "a file upload",
    html: buildPlainForm({ form: 'enctype="multipart/form-data"', inside: '<input type="file" id="file" name="plan" multiple>' }),
    act: async (page) => {
      await page.setInputFiles("#file", [
        { name: "roof ü.txt", mimeType: "text/plain", buffer: Buffer.from("south") },
        { name: "b.bin", mimeType: "application/octet-stream", buffer: Buffer.from("abc") },
      ]);
      await tickAndClick(page);
    },
  },
  {
    name: "a form of the default action and a dirname entry",
    html: buildPlainForm({ inside: '<input name="remark" dirname="remark.dir" value="hello">' }),
  },
  {
    name: "a form around a table, which the parser leaves without children",
    html: `<table><form action="{{action}}" method="post" id="lead"><tr><td><input name="email" value="pat@example.com">
      <input type="checkbox" id="consent" name="agree"><span id="terms">${terms}</span>
      <button id="send" name="go">Go</button></td></tr></form></table>`,
  },
  {
    name: "a form moved elsewhere on the page while it waits",
    html: `${buildPlainForm()}<div id="other"></div><script>send.onclick = () => setTimeout(() => other.append(lead), 20)</script>`,
  },
  {
    name: "a synthetic submit event followed by form.submit()",
    html: `${buildPlainForm({ button: link })}<script>send.onclick = () => {
      if (lead.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))) lead.submit() }</script>`,
    isUncertified: true,
  },
  {
    name: "form.submit() by the page",
    html: `${buildPlainForm({ button: link })}<script>send.onclick = () => lead.submit()</script>`,
    isUncertified: true,
  },
  {
    name: "a form inside a shadow root",
    html: `<div id="host"></div><script>host.attachShadow({ mode: 'open' }).innerHTML = ${JSON.stringify(buildPlainForm())}</script>`,
    act: async (page) => {
      await page.check("#consent");
      await page.click("#send"); // the driver's click can reach into shadow roots
    },
    isUncertified: true,
  },
];

describe("the backend receives once, apart from the certificate, what it receives without the widget", () => {
  it.each(ways.map((way) => [way.name, way] as const))("%s", async (_name, { html, act = tickAndClick, isUncertified }) => {
    const [plain, held] = await Promise.all([world.visit({ html, widget: false }), world.visit({ html, delayMs: 60 })]);
    await Promise.all([act(plain.page), act(held.page)]);
    const [expected, received] = await Promise.all([plain.submitted(), held.submitted()]);

    expect(omitCertificate(received)).toEqual(omitCertificate(expected));
    expect(extractCertificates(received)).toEqual(isUncertified ? [] : [expect.stringMatching(/^cc_\d+$/)]);
    expect(held.calls).toHaveLength(isUncertified ? 0 : 1);
    expect(held.events.map(({ type }) => type)).toEqual(isUncertified ? [] : ["svc:consent"]);
    expect(held.errors).toEqual([]);
    await Promise.all([plain.close(), held.close()]);
  });
});

/** Names of form and element properties that the widget might use, directly or through browser APIs. */
const shadowingNames = [
  "submit",
  "action",
  "id",
  "method",
  "target",
  "enctype",
  "name",
  "elements",
  "length",
  "requestSubmit",
  "reset",
  "matches",
  "closest",
  "contains",
  "querySelector",
  "querySelectorAll",
  "appendChild",
  "append",
  "remove",
  "getAttribute",
  "setAttribute",
  "removeAttribute",
  "hasAttribute",
  "addEventListener",
  "dispatchEvent",
  "parentNode",
  "isConnected",
  "ownerDocument",
  "tagName",
  "nodeName",
  "children",
  "firstChild",
  "dataset",
  "noValidate",
  "checkValidity",
  "style",
  "hidden",
  "form",
  "constructor",
];

describe("inputs named after members of the form", () => {
  it("do not matter: the form is submitted once with its certificate", async () => {
    const inside = shadowingNames.map((name) => `<input name="${name}" value="mine">`).join("");
    const visit = await world.visit({ html: buildPlainForm({ inside }), widget: { "data-form-selector": "form" } });
    // A script clicks, because the browser driver itself fails on this form.
    await visit.page.evaluate(() => {
      for (const id of ["consent", "send"]) document.getElementById(id)!.click();
    });
    const received = await visit.submitted();
    expect(extractCertificates(received)).toHaveLength(1);
    expect(received.entries.filter(([, value]) => value === "mine")).toHaveLength(shadowingNames.length);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});

describe("while the form is held", () => {
  /** Opens a page whose form is held until the test releases it. */
  const createWaitingVisit = async (html: string) => {
    const { release, respond } = createHeldResponse();
    const visit = await world.visit({ html, respond });
    await tickAndClick(visit.page);
    await visit.until(() => visit.calls.length === 1, "the call");
    return { visit, release };
  };

  it("ignores a second click on any button: one certificate and one submission with the first button", async () => {
    const button = '<button id="send" name="go" value="1">A</button><button id="other" name="go" value="2">B</button>';
    const { visit, release } = await createWaitingVisit(buildPlainForm({ button }));
    await visit.page.dblclick("#send");
    await press(visit.page, "#other");
    release();
    const received = await visit.submitted();
    expect(received.entries.filter(([name]) => name === "go")).toEqual([["go", "1"]]);
    expect(visit.calls).toHaveLength(1);
    await visit.close();
  });

  it("only marks the form as busy: the focus does not move, no button is disabled, and no box changes", async () => {
    const { visit, release } = await createWaitingVisit(buildPlainForm());
    const state = await visit.page.evaluate(() => ({
      busy: document.querySelector("form")!.getAttribute("aria-busy"),
      focus: document.activeElement!.id,
      disabled: document.querySelectorAll(":disabled").length,
      ticked: document.querySelectorAll(":checked").length,
      children: document.querySelector("form")!.childElementCount,
    }));
    expect(state).toEqual({ busy: "true", focus: "send", disabled: 0, ticked: 1, children: 6 });
    release();
    await visit.submitted();
    await visit.close();
  });

  it("sends nothing if the page is left", async () => {
    const { visit, release } = await createWaitingVisit(buildPlainForm());
    await visit.page.goto("about:blank");
    release();
    await waitForQuiet();
    expect(visit.backend).toEqual([]);
    await visit.close();
  });

  it.each([
    ["removed", "lead.remove()"],
    ["replaced by an equal one", "lead.replaceWith(lead.cloneNode(true))"],
  ])("a form that is %s throws nothing and is not sent", async (_name, change) => {
    const { visit, release } = await createWaitingVisit(buildPlainForm());
    await visit.page.evaluate(change);
    release();
    await waitForQuiet();
    expect([visit.errors, visit.backend]).toEqual([[], []]);
    await visit.close();
  });

  it("certifies a re-mounted form when it is sent again", async () => {
    const { visit, release } = await createWaitingVisit(buildPlainForm());
    await visit.page.evaluate("lead.replaceWith(lead.cloneNode(true))");
    release();
    await waitForQuiet();
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    await visit.close();
  });

  it.each([
    ["a changed value", 'lead.elements.email.value = "other@example.com"'],
    ["a consent box unticked", "consent.click()"],
    ["a recipient declined", "acme.click()"],
  ])("%s keeps the certificate out of the form, which is submitted in its current state", async (_name, change) => {
    const inside = `<input type="checkbox" id="acme" data-sp1-entity="Acme Solar LLC" checked>
      <input type="checkbox" data-sp1-entity="Bright Homes, Inc." checked>`;
    const { visit, release } = await createWaitingVisit(buildPlainForm({ inside }));
    await visit.page.evaluate(change);
    release();
    const received = await visit.submitted();
    expect(extractCertificates(received)).toEqual([]);
    expect(visit.events).toEqual([{ type: "svc:consent-error", detail: { code: "values_changed" }, target: "lead" }]);
    await visit.close();
  });

  it("keeps the certificate if the page hides the disclosure in the meantime, for example behind a spinner", async () => {
    const { visit, release } = await createWaitingVisit(`${buildPlainForm()}<style>.sent { display: none }</style>`);
    await visit.page.evaluate(() => document.querySelector("form")!.classList.add("sent"));
    release();
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    await visit.close();
  });
});

describe("events that submit nothing", () => {
  it("sends no request when a required field is empty, which the browser handles", async () => {
    const visit = await world.visit({ html: buildPlainForm({ inside: '<input name="needed" required>' }) });
    await tickAndClick(visit.page);
    await waitForQuiet();
    expect([visit.calls, visit.backend, visit.events]).toEqual([[], [], []]);
    await visit.close();
  });

  it("obeys a handler that cancels every submission, without a loop", async () => {
    const visit = await world.visit({ html: buildPlainForm({ form: 'onsubmit="window.seen = (window.seen || 0) + 1; return false"' }) });
    await tickAndClick(visit.page);
    await visit.until(() => visit.events.length === 1, "the certificate");
    await waitForQuiet();
    expect([visit.calls.length, visit.backend.length, await visit.page.evaluate("window.seen")]).toEqual([1, 0, 1]);
    await visit.close();
  });

  it("ignores an event canceled by an earlier listener on window", async () => {
    const html = `{{widget}}${buildPlainForm()}`;
    const visit = await world.visit({
      html: `<script>addEventListener('submit', (event) => event.preventDefault(), true)</script>${html}`,
    });
    await tickAndClick(visit.page);
    await waitForQuiet();
    expect([visit.calls, visit.backend, visit.events]).toEqual([[], [], []]);
    await visit.close();
  });

  it("closes a dialog once with the value of the button", async () => {
    const html = `<dialog id="box">${buildPlainForm({ form: "data-x" }).replace('method="post"', 'method="dialog"')}</dialog>
      <script>box.showModal(); box.onclose = () => { window.closed_ = (window.closed_ || []).concat(box.returnValue) }</script>`;
    const visit = await world.visit({ html });
    await tickAndClick(visit.page);
    await visit.page.waitForFunction("window.closed_");
    await waitForQuiet();
    expect(await visit.page.evaluate("window.closed_")).toEqual(["now"]);
    expect(await visit.page.evaluate('new FormData(lead).get("svc_cert_id")')).toMatch(/^cc_/);
    await visit.close();
  });

  it("issues no certificate for a cancel button that only closes the dialog", async () => {
    const button = '<button id="send" formmethod="dialog" value="cancel" formnovalidate>Cancel</button>';
    const html = `<dialog id="box">${buildPlainForm({ button })}</dialog><script>box.showModal()</script>`;
    const visit = await world.visit({ html });
    await tickAndClick(visit.page);
    await visit.page.waitForFunction("!box.open");
    expect([visit.calls, await visit.page.evaluate("box.returnValue")]).toEqual([[], "cancel"]);
    await visit.close();
  });

  it("ignores events named submit and reset from elements that are not forms", async () => {
    const visit = await world.visit({ html: `${buildPlainForm()}<div class="lead"></div>`, widget: { "data-form-selector": ".lead" } });
    await visit.page.evaluate(() => {
      for (const type of ["submit", "reset"]) {
        document.querySelector("div")!.dispatchEvent(new CustomEvent(type, { bubbles: true }));
        window.dispatchEvent(new CustomEvent(type));
      }
    });
    expect([visit.calls, visit.errors]).toEqual([[], []]);
    await visit.close();
  });
});

describe("the target of the submission", () => {
  const readCertificates = (visit: Visit) => visit.submitted().then(extractCertificates);

  it("can be a hidden iframe, and the page stays", async () => {
    const html = `${buildPlainForm({ form: 'target="sink"' })}<iframe name="sink" hidden></iframe>`;
    const visit = await world.visit({ html });
    await tickAndClick(visit.page);
    expect(await readCertificates(visit)).toHaveLength(1);
    expect(visit.page.url()).toBe(visit.url);
    expect(await visit.page.evaluate(() => document.querySelector("form")!.getAttribute("aria-busy"))).toBeNull();
    await visit.close();
  });

  it("does not lose an aria-busy that the page has set", async () => {
    const html = `${buildPlainForm({ form: 'target="sink" aria-busy="false"' })}<iframe name="sink" hidden></iframe>`;
    const visit = await world.visit({ html });
    await tickAndClick(visit.page);
    expect(await readCertificates(visit)).toHaveLength(1);
    expect(await visit.page.evaluate(() => document.querySelector("form")!.getAttribute("aria-busy"))).toBe("false");
    await visit.close();
  });

  it("can be a new tab, even if the response takes nearly the whole time limit", async () => {
    const visit = await world.visit({ html: buildPlainForm({ form: 'target="_blank"' }), delayMs: 2700 });
    await tickAndClick(visit.page);
    expect(await readCertificates(visit)).toHaveLength(1);
    await visit.until(() => visit.context.pages().length === 2, "the new tab");
    await visit.close();
  });

  it.each([
    ["of the same origin", ""],
    ["of its own srcdoc", "srcdoc"],
  ])("a frame %s with the script inside certifies like a page", async (_name, kind) => {
    const inner = await world.visit({ html: buildPlainForm() });
    const html = kind
      ? `<iframe srcdoc="${`<base target=_self>${(await (await fetch(inner.url)).text()).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}`}"></iframe>`
      : `<iframe src="${inner.url}"></iframe>`;
    const outer = await world.visit({ html, script: "", widget: true });
    const frame = outer.page.frames()[1]!;
    await frame.check("#consent");
    await frame.click("#send");
    await inner.until(() => inner.backend.length === 1, "the submission");
    expect(extractCertificates(inner.backend[0]!)).toHaveLength(1);
    const visit = kind ? outer : inner;
    expect(visit.calls.map(({ body }) => body.page_url)).toEqual([visit.url]);
    await Promise.all([inner.close(), outer.close()]);
  });
});
