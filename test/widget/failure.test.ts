// Tests that the form is submitted once, unchanged and in time, regardless of how certifying fails, and that an event tells the page why. A
// second submission from the same page has its own certificate or none, and never the certificate of the first submission.
// back-forward.test.ts tests pages that are restored with the back button.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { extractCertificates } from "./received.ts";
import {
  type MockResponse,
  type Attributes,
  type Visit,
  type VisitOptions,
  fill,
  buildInitScript,
  openWorld,
  placeholder,
  plainEntries,
  buildPlainForm,
  press,
  waitForQuiet,
  buildRefusal,
  buildSuccess,
  tickAndClick,
} from "./support.ts";

const world = await openWorld();

const abortRouteWith = (error: string) => (page: Page) => page.route("**/v1/consent", (route) => route.abort(error));

interface Fault {
  what: string;
  code: string;
  response?: MockResponse;
  before?: VisitOptions["before"];
  first?: string;
  headers?: Record<string, string>;
  widget?: Attributes;
}

const faults: Fault[] = [
  { what: "402 plan_required", code: "plan_required", response: buildRefusal(402, "plan_required") },
  { what: "403 origin_not_verified", code: "origin_not_verified", response: buildRefusal(403, "origin_not_verified") },
  { what: "400 invalid_request", code: "invalid_request", response: buildRefusal(400, "invalid_request") },
  {
    what: "429, whose Retry-After is not waited for",
    code: "rate_limited",
    response: buildRefusal(429, "rate_limited", { "retry-after": "30" }),
  },
  { what: "503 storage_unavailable", code: "storage_unavailable", response: buildRefusal(503, "storage_unavailable") },
  { what: "422 without a body", code: "http_422", response: { status: 422, body: "" } },
  { what: "a 500 page of HTML", code: "http_500", response: { status: 500, body: "<h1>Oops</h1>" } },
  { what: "a 502 whose JSON is not ours", code: "http_502", response: { status: 502, body: { error: "bad gateway" } } },
  { what: "ok:false with status 200", code: "client_not_found", response: buildRefusal(200, "client_not_found") },
  { what: "a 500 that claims success", code: "http_500", response: { status: 500, body: buildSuccess("cc_9") } },
  { what: "ok:false with a certificate id", code: "bad_response", response: { body: { ...buildSuccess("cc_9"), ok: false } } },
  { what: "201 that is not JSON", code: "bad_response", response: { body: "created" } },
  { what: "201 that is null", code: "bad_response", response: { body: "null" } },
  { what: "201 that is empty", code: "bad_response", response: { body: "" } },
  {
    what: "201 without a certificate id",
    code: "bad_response",
    response: { body: { ok: true, data: { fingerprint: "x" }, request_id: "r" } },
  },
  { what: "201 without data", code: "bad_response", response: { body: { ok: true } } },
  { what: "a response without CORS header", code: "network", response: { body: buildSuccess("cc_9"), withoutCors: true } },
  { what: "a connection reset", code: "network", response: { fault: "reset" } },
  {
    what: "a body that stalls",
    code: "timeout",
    response: { body: buildSuccess("cc_9"), fault: "stall" },
    widget: { "data-timeout": "500" },
  },
  { what: "no response", code: "timeout", response: { fault: "never" }, widget: { "data-timeout": "500" } },
  { what: "no response within the default budget", code: "timeout", response: { fault: "never" } },
  { what: "a content security policy that forbids the API", code: "network", headers: { "content-security-policy": "connect-src 'self'" } },
  { what: "an extension that blocks the request", code: "network", before: abortRouteWith("blockedbyclient") },
  { what: "an API that cannot be reached", code: "network", before: abortRouteWith("internetdisconnected") },
  { what: "fetch replaced by a stub that throws", code: "network", first: 'window.fetch = () => { throw new Error("no") }' },
  { what: "fetch replaced by a stub that gives nothing", code: "network", first: "window.fetch = () => {}" },
  { what: "fetch removed", code: "network", first: "delete window.fetch" },
  {
    what: "fetch replaced by one that never answers nor aborts",
    code: "timeout",
    first: "window.fetch = () => new Promise(() => {})",
    widget: { "data-timeout": "500" },
  },
];

describe("submits the form once, unchanged and in time, with one error event, on", () => {
  it.each(faults.map((fault) => [fault.what, fault] as const))("%s", async (_what, { code, response, before, first, headers, widget }) => {
    const visit = await world.visit({
      html: buildPlainForm(),
      widget: widget ?? true,
      ...(response && { respond: () => response }),
      ...(before && { before }),
      ...(first && { first }),
      ...(headers && { headers }),
    });
    await tickAndClick(visit.page);
    if (code === "timeout") {
      if (response) await visit.until(() => visit.calls.length === 1, "the call");
      // After about 5 s, the browser blocks a form that opens a new tab. The default time limit is 3 s.
      await expect.poll(() => visit.endTimeLimits()).toEqual([widget ? 500 : 3000]);
    }
    const received = await visit.submitted(); // all other time limits are still held, so the form did not wait for one
    expect(received.entries).toEqual(plainEntries);
    expect(visit.events.map(({ type, detail }) => [type, detail.code])).toEqual([["svc:consent-error", code]]);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it("passes code, message and request ID of a refusal to the page", async () => {
    const visit = await world.visit({ html: buildPlainForm(), respond: () => buildRefusal(402, "plan_required") });
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.events[0]!.detail).toEqual({ code: "plan_required", message: "A sentence.", request_id: "req_7" });
    await visit.close();
  });
});

/** A page that sends its form with a script and does not navigate. */
const buildAjaxForm = (inside = "") => `${buildPlainForm({ inside })}<script>lead.addEventListener('submit', (event) => {
  event.preventDefault()
  fetch(lead.getAttribute('action'), { method: 'POST', body: new URLSearchParams(new FormData(lead, event.submitter)) }) })</script>`;

// These tests mostly wait, so they run concurrently.
describe.concurrent("after the time limit", () => {
  it("ignores a late certificate and aborts the request", async () => {
    let answerLate: (answer: undefined) => void = () => {};
    const late = new Promise<undefined>((resolve) => {
      answerLate = resolve;
    });
    const visit = await world.visit({ html: buildAjaxForm(), widget: { "data-timeout": "500" }, respond: () => late });
    await tickAndClick(visit.page);
    await visit.until(() => visit.calls.length === 1, "the call");
    await visit.endTimeLimits();
    await visit.submitted();
    await visit.until(() => visit.calls[0]!.aborted, "the end of the request");
    answerLate(undefined);
    await visit.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100))); // gives the late response time to have an effect
    expect(await visit.page.locator("[name=svc_cert_id]").count()).toBe(0);
    expect(visit.events.map(({ detail }) => detail.code)).toEqual(["timeout"]);
    expect([visit.backend.length, visit.calls.length]).toEqual([1, 1]);
    await visit.close();
  });

  it.each([
    ["10", 500],
    ["60000", 4500],
    ["soon", 3000],
  ])("data-timeout=%s means %d ms", async (timeout, means) => {
    const visit = await world.visit({
      html: buildAjaxForm(),
      widget: { "data-timeout": timeout },
      respond: () => ({ fault: "never" }),
    });
    await tickAndClick(visit.page);
    await visit.until(() => visit.calls.length === 1, "the call");
    expect(visit.backend).toEqual([]);
    expect(await visit.endTimeLimits()).toEqual([means]);
    await visit.submitted();
    expect(await visit.endTimeLimits()).toEqual([]);
    expect(visit.events.map(({ detail }) => detail.code)).toEqual(["timeout"]);
    await visit.close();
  });
});

describe("listeners of the page", () => {
  it("that throw do not affect the submission", async () => {
    const html = `${buildPlainForm()}<script>for (const type of ['svc:consent', 'svc:consent-error'])
      lead.addEventListener(type, () => { throw new Error('theirs') })</script>`;
    for (const answer of [undefined, buildRefusal(500, "internal_error")]) {
      const visit = await world.visit({ html, respond: () => answer });
      await tickAndClick(visit.page);
      expect(extractCertificates(await visit.submitted())).toHaveLength(answer ? 0 : 1);
      expect(visit.errors).toEqual(["Error: theirs"]);
      await visit.close();
    }
  });

  it("get three members of the receipt in a bubbling event before the submission, and may change the form", async () => {
    const html = `${buildPlainForm({ inside: '<input type="hidden" name="proof">' })}<script>
      document.addEventListener('svc:consent', ({ detail, target }) => { target.elements.proof.value = detail.verify_url })</script>`;
    const visit = await world.visit({ html });
    await tickAndClick(visit.page);
    const received = await visit.submitted();
    const [certId] = extractCertificates(received);
    expect(received.entries).toContainEqual(["proof", `https://verify.example/c/${certId}`]);
    const { cert_id, fingerprint, verify_url } = buildSuccess(certId!).data;
    expect(visit.events).toEqual([{ type: "svc:consent", detail: { cert_id, fingerprint, verify_url }, target: "lead" }]);
    await visit.close();
  });

  it("that submit the form themselves do not cause a second submission", async () => {
    const html = `${buildPlainForm()}<script>lead.addEventListener('svc:consent', () => lead.requestSubmit())</script>`;
    const visit = await world.visit({ html });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.calls).toHaveLength(1);
    await visit.close();
  });
});

describe.each([
  ["with an input of ours", ""],
  ["with a placeholder of the page", placeholder],
])("a second submission of the same page, %s,", (_name, inside) => {
  const submitFirst = async (options: Partial<VisitOptions> = {}) => {
    const visit = await world.visit({ html: buildAjaxForm(inside), ...options });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toEqual([expect.stringMatching(/^cc_/)]);
    return visit;
  };

  it("of other values has another certificate, exactly once", async () => {
    const visit = await submitFirst();
    await fill(visit.page, "[name=email]", "other@example.com");
    await press(visit.page, "#send");
    const ids = extractCertificates(await visit.submitted(2));
    expect(ids).toEqual([expect.stringMatching(/^cc_/)]);
    expect(ids).not.toEqual(extractCertificates(visit.backend[0]!));
    expect(visit.calls[1]!.body.submission_id).not.toBe(visit.calls[0]!.body.submission_id);
    await visit.close();
  });

  it("that fails has none", async () => {
    const visit = await submitFirst({ respond: (_call, n) => (n === 2 ? buildRefusal(503, "storage_unavailable") : undefined) });
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted(2)).filter(Boolean)).toEqual([]);
    await visit.close();
  });

  it("without the checked box has none", async () => {
    const visit = await submitFirst();
    await press(visit.page, "#consent");
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted(2)).filter(Boolean)).toEqual([]);
    expect(visit.calls).toHaveLength(1);
    await visit.close();
  });

  it("after a reset gets a new certificate, and the reset clears the old one", async () => {
    const visit = await submitFirst();
    await visit.page.evaluate("lead.reset()");
    expect(await visit.page.evaluate('new FormData(lead).get("svc_cert_id") || ""')).toBe("");
    await tickAndClick(visit.page);
    const ids = extractCertificates(await visit.submitted(2));
    expect(ids).toEqual([expect.stringMatching(/^cc_/)]);
    expect(ids).not.toEqual(extractCertificates(visit.backend[0]!));
    await visit.close();
  });

  it("by a synthetic event has the certificate only while the values are the same", async () => {
    const visit = await submitFirst();
    const dispatch = () => visit.page.evaluate("lead.dispatchEvent(new SubmitEvent('submit', { cancelable: true, bubbles: true }))");
    await dispatch();
    expect(extractCertificates(await visit.submitted(2))).toEqual(extractCertificates(visit.backend[0]!));
    await fill(visit.page, "[name=email]", "other@example.com");
    await dispatch();
    expect(extractCertificates(await visit.submitted(3)).filter(Boolean)).toEqual([]);
    await visit.close();
  });
});

describe("an attempt sent again unchanged", () => {
  it("keeps its submission_id and certificate after the page refused it, and gets new ones once corrected", async () => {
    const html = `${buildPlainForm({ form: "novalidate" })}<script>let tries = 0; lead.addEventListener('submit', (event) => {
      if (++tries < 3) event.preventDefault() })</script>`;
    const visit = await world.visit({ html });
    await tickAndClick(visit.page);
    await visit.until(() => visit.events.length === 1, "the first certificate");
    await press(visit.page, "#send");
    await visit.until(() => visit.events.length === 2, "the second certificate");
    expect(visit.calls[1]!.text).toBe(visit.calls[0]!.text);
    expect(visit.events[1]!.detail.cert_id).toBe(visit.events[0]!.detail.cert_id);

    await fill(visit.page, "[name=email]", "right@example.com");
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toEqual([visit.events[2]!.detail.cert_id]);
    expect(visit.events[2]!.detail.cert_id).not.toBe(visit.events[1]!.detail.cert_id);
    expect(visit.calls[2]!.body.fields).toMatchObject({ email: "right@example.com" });
    await visit.close();
  });

  it("keeps its submission_id after a timeout", async () => {
    const visit = await world.visit({
      html: buildAjaxForm(),
      widget: { "data-timeout": "500" },
      respond: (_call, n) => (n === 1 ? { fault: "never" } : undefined),
    });
    await tickAndClick(visit.page);
    await visit.until(() => visit.calls.length === 1, "the call");
    await visit.endTimeLimits();
    await visit.submitted();
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted(2))).toHaveLength(1);
    expect(visit.calls[1]!.body.submission_id).toBe(visit.calls[0]!.body.submission_id);
    await visit.close();
  });
});

describe("the hidden input", () => {
  it("is marked so that the browser does not restore it", async () => {
    for (const inside of ["", placeholder]) {
      const visit = await world.visit({ html: buildAjaxForm(inside) });
      await tickAndClick(visit.page);
      await visit.submitted();
      expect(await visit.page.locator("[name=svc_cert_id]").getAttribute("autocomplete")).toBe("off");
      await visit.close();
    }
  });

  it("is emptied first when the server rendered it with an old certificate", async () => {
    const echoed = '<input type="hidden" name="svc_cert_id" value="cc_old">';
    const visit = await world.visit({ html: buildPlainForm({ inside: echoed }), respond: () => buildRefusal(503, "storage_unavailable") });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toEqual([""]);
    await visit.close();
  });

  it("is reused, not duplicated, when the page clones the form", async () => {
    const visit = await world.visit({ html: buildAjaxForm() });
    await tickAndClick(visit.page);
    await visit.submitted();
    await visit.page.evaluate(() => {
      const form = document.querySelector("form")!;
      form.replaceWith(form.cloneNode(true));
    });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted(2))).toHaveLength(1);
    await visit.close();
  });

  it("is added only with a certificate", async () => {
    const visit = await world.visit({ html: buildPlainForm() });
    await press(visit.page, "#consent");
    await waitForQuiet();
    expect(await visit.page.locator("[name=svc_cert_id]").count()).toBe(0);
    await visit.close();
  });
});

describe("the input that data-certificate-input names", () => {
  const widget = { "data-certificate-input": "proof" };
  const listProofs = ({ entries }: Awaited<ReturnType<Visit["submitted"]>>) =>
    entries.filter(([name]) => name === "proof").map(([, value]) => value);
  const getCertificateUrl = (received: Awaited<ReturnType<Visit["submitted"]>>) =>
    `https://verify.example/c/${extractCertificates(received)[0]}`;

  it.each([
    ["appended", "", true],
    ["the page's own hidden one", '<input type="hidden" name="proof" value="https://old.example/c/cc_old">', true],
    ["asked for by script", "", buildInitScript("certificateInput: 'proof'")],
  ])("holds the certificate's URL, in addition to svc_cert_id: %s", async (_which, inside, script) => {
    const visit = await world.visit({ html: buildPlainForm({ inside }), widget, ...(typeof script === "string" && { script }) });
    await tickAndClick(visit.page);
    const received = await visit.submitted();
    expect(listProofs(received)).toEqual([getCertificateUrl(received)]);
    expect(received.entries.filter(([name]) => name !== "proof" && name !== "svc_cert_id")).toEqual(plainEntries);
    await visit.close();
  });

  it("is not added without the option or with an empty name", async () => {
    for (const wanted of [true, { "data-certificate-input": "" }]) {
      const visit = await world.visit({ html: buildPlainForm(), widget: wanted });
      await tickAndClick(visit.page);
      expect((await visit.submitted()).entries.map(([name]) => name).sort()).toEqual(
        [...plainEntries.map(([name]) => name), "svc_cert_id"].sort(),
      );
      await visit.close();
    }
  });

  it.each([
    ["the API refuses", { respond: () => buildRefusal(503, "storage_unavailable") }],
    ["there is no response in time", { respond: () => ({ fault: "never" as const }) }],
    ["the disclosure is missing", { widget: { ...widget, "data-disclosure-selector": "#nowhere" } }],
  ])("is never added when %s", async (why, options) => {
    const visit = await world.visit({ html: buildPlainForm(), widget, ...options });
    await tickAndClick(visit.page);
    if (why.includes("no response")) {
      await visit.until(() => visit.calls.length === 1, "the call");
      await visit.endTimeLimits();
    }
    expect((await visit.submitted()).entries).toEqual(plainEntries);
    await visit.close();
  });

  it.each([
    ["appended", "", []],
    ["the page's own", '<input type="hidden" name="proof" id="own">', [""]],
  ])("does not send an old URL with the next submission: %s", async (_which, inside, left) => {
    const visit = await world.visit({
      html: buildAjaxForm(inside),
      widget,
      respond: (_call, n) => (n === 2 ? buildRefusal(503, "storage_unavailable") : undefined),
    });
    await tickAndClick(visit.page);
    const first = await visit.submitted();
    expect(listProofs(first)).toEqual([getCertificateUrl(first)]);
    await fill(visit.page, "[name=email]", "other@example.com");
    await press(visit.page, "#send");
    expect(listProofs(await visit.submitted(2))).toEqual(left);
    await press(visit.page, "#send");
    const third = await visit.submitted(3);
    expect(listProofs(third)).toEqual([getCertificateUrl(third)]);
    await visit.page.evaluate("lead.reset()");
    expect(await visit.page.evaluate('new FormData(lead).getAll("proof")')).toEqual(left);
    await visit.close();
  });

  it("never overwrites a visitor's field that has this name by mistake", async () => {
    const visit = await world.visit({ html: buildPlainForm(), widget: { "data-certificate-input": "email" } });
    await tickAndClick(visit.page);
    const received = await visit.submitted();
    expect(extractCertificates(received)).toHaveLength(1);
    expect(received.entries.filter(([name]) => name === "email")).toEqual([["email", "pat@example.com"]]);
    await visit.close();
  });

  it("holds the certificate ID when it is named svc_cert_id", async () => {
    const visit = await world.visit({ html: buildPlainForm(), widget: { "data-certificate-input": "svc_cert_id" } });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toEqual([expect.stringMatching(/^cc_/)]);
    await visit.close();
  });
});
