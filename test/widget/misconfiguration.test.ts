// Tests console warnings for a page's owner. Each mistake is reported once, with the fix, and without any data about the visitor.

import { describe, expect, it } from "vitest";
import { extractCertificates } from "./received.ts";
import {
  type MockResponse,
  type VisitOptions,
  buildInitScript,
  createHeldResponse,
  openWorld,
  buildPlainForm,
  press,
  buildScriptTag,
  tickAndClick,
  waitForQuiet,
} from "./support.ts";

const world = await openWorld();

/** A form that submits into a frame, so that the page and its console stay open. */
const buildStayingForm = (options: Parameters<typeof buildPlainForm>[0] = {}) =>
  `${buildPlainForm({ ...options, form: 'target="sink"' })}<iframe name="sink"></iframe>`;

const buildRefusal = (status: number, code: string): MockResponse => ({
  status,
  body: { ok: false, error: { code, message: "pat@example.com is refused" }, request_id: "req_7" },
});

const visitOf = (options: Partial<VisitOptions>) => world.visit({ html: buildStayingForm(), ...options });

interface Mistake {
  what: string;
  says: string;
  options: Partial<VisitOptions>;
}

const mistakes: Mistake[] = [
  {
    what: "an unknown client",
    says: "refused: client_not_found",
    options: { respond: () => buildRefusal(404, "client_not_found") },
  },
  {
    what: "an Origin that is not verified",
    says: "refused: origin_not_verified",
    options: { respond: () => buildRefusal(403, "origin_not_verified") },
  },
  {
    what: "a page address that is not verified",
    says: "refused: page_url_not_verified",
    options: { respond: () => buildRefusal(403, "page_url_not_verified") },
  },
  {
    what: "a plan without certificates",
    says: "refused: plan_required",
    options: { respond: () => buildRefusal(402, "plan_required") },
  },
  {
    what: "no disclosure",
    says: "no disclosure is displayed: set data-disclosure-selector",
    options: { widget: { "data-disclosure-selector": undefined } },
  },
  {
    what: "a disclosure that is not displayed",
    says: "no disclosure is displayed: set data-disclosure-selector",
    options: { html: `${buildStayingForm()}<style>#terms { display: none }</style>` },
  },
  {
    what: "a disclosure selector that finds nothing",
    says: "data-disclosure-selector matches nothing: correct it",
    options: { widget: { "data-disclosure-selector": "#nowhere" } },
  },
  {
    what: "an invalid disclosure selector",
    says: "data-disclosure-selector is invalid: correct it",
    options: { widget: { "data-disclosure-selector": "p[[" } },
  },
  {
    what: "a checkbox selector that finds nothing",
    says: "data-checkbox-selector matches nothing: correct it",
    options: { widget: { "data-checkbox-selector": "#nowhere" } },
  },
  {
    what: "an invalid checkbox selector",
    says: "data-checkbox-selector is invalid: correct it",
    options: { widget: { "data-checkbox-selector": "" } },
  },
  {
    what: "a form selector that finds nothing",
    says: "data-form-selector matches nothing: correct it",
    options: { widget: { "data-form-selector": "#nowhere" } },
  },
  {
    what: "an invalid form selector",
    says: "data-form-selector matches nothing: correct it",
    options: { widget: { "data-form-selector": "form[[" } },
  },
  {
    what: "a form selector by script that finds nothing",
    says: "data-form-selector matches nothing: correct it",
    options: { script: buildInitScript("formSelector: '#nowhere'") },
  },
  {
    what: "no recipients",
    says: "data-client-id, data-purpose or data-entities is missing: set it",
    options: { widget: { "data-entities": " , " } },
  },
  {
    what: "a form without a contact detail",
    says: "no contact field is filled in: map your fields",
    options: { html: buildStayingForm().replace(/ value="(Pat|pat@example.com|\+1 202 555 0123)"/g, "") },
  },
  { what: "an unknown mode", says: "data-mode is unknown: correct it", options: { widget: { "data-mode": "consnet" } } },
  { what: "no mode", says: "data-mode is unknown: correct it", options: { widget: { "data-mode": undefined } } },
  {
    what: "a certificate input that is a field of the visitor",
    says: "data-certificate-input is not hidden: correct it",
    options: { widget: { "data-certificate-input": "email" } },
  },
];

describe("prints one line, however often the mistake happens, for", () => {
  it.each(mistakes.map((mistake) => [mistake.what, mistake] as const))("%s", async (_what, { says, options }) => {
    const visit = await visitOf(options);
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.warnings).toEqual([`svc.js: ${says}`]);
    await press(visit.page, "#send");
    await visit.submitted(2);
    expect(visit.warnings).toHaveLength(1);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it("each of several mistakes", async () => {
    const script =
      buildScriptTag("{{src}}", { "data-mode": "offer" }) +
      buildScriptTag("{{src}}", { "data-form-selector": "#lead", "data-disclosure-selector": "#nowhere" }) +
      buildScriptTag("{{src}}", { "data-form-selector": "#lead", "data-mode": "other" });
    const visit = await visitOf({ script });
    expect(visit.warnings).toEqual(["svc.js: data-mode is unknown: correct it"]);
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.warnings).toEqual([
      "svc.js: data-mode is unknown: correct it",
      "svc.js: data-disclosure-selector matches nothing: correct it",
    ]);
    await visit.close();
  });
});

describe("prints nothing for", () => {
  const fine: [string, Partial<VisitOptions>][] = [
    ["a certificate", {}],
    ["share mode, which watches no form", { widget: { "data-mode": "share" } }],
    ["a script of another service", { script: '<script src="/elsewhere.js" data-client-id="x" data-mode="y"></script>' }],
    ["a value the API refuses", { respond: () => buildRefusal(400, "invalid_request") }],
    ["too many requests", { respond: () => buildRefusal(429, "rate_limited") }],
    ["an outage", { respond: () => buildRefusal(503, "storage_unavailable") }],
    ["a code of a well-known name", { respond: () => buildRefusal(400, "constructor") }],
    ["a suspended business, which the page cannot fix", { respond: () => buildRefusal(402, "business_suspended") }],
    ["an address field of the page's own", { widget: { "data-certificate-input": "proof" } }],
  ];
  it.each(fine)("%s", async (_what, options) => {
    const visit = await visitOf(options);
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.warnings).toEqual([]);
    await visit.close();
  });

  it("an unchecked box, and a form that the selector does not match while it matches another", async () => {
    const visit = await visitOf({
      html: `${buildStayingForm()}<form action="{{action}}" method="post" target="sink"><button id="other">Search</button></form>`,
      widget: { "data-form-selector": "#lead" },
    });
    await press(visit.page, "#send");
    await visit.submitted();
    await press(visit.page, "#other");
    await visit.submitted(2);
    expect(visit.warnings).toEqual([]);
    await visit.close();
  });

  it("a form that the page removes before the response", async () => {
    const { release, respond } = createHeldResponse();
    const visit = await visitOf({ respond });
    await tickAndClick(visit.page);
    await visit.until(() => visit.calls.length === 1, "the call");
    await visit.page.evaluate("lead.remove()");
    release();
    await waitForQuiet();
    expect([visit.warnings, visit.errors]).toEqual([[], []]);
    await visit.close();
  });
});

it("certifies and submits the form although the page's console throws", async () => {
  const visit = await world.visit({
    html: buildStayingForm(),
    widget: { "data-certificate-input": "email" },
    first: "console.warn = () => { throw new Error('theirs') }",
  });
  await tickAndClick(visit.page);
  expect(extractCertificates(await visit.submitted())).toHaveLength(1);
  await visit.close();
});
