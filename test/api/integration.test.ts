// Tests POST /v1/business/portal/integrate, which reads a page of the business and returns the script tag for its form.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { TextModelRunner } from "../../core/integration/text-model-runner.ts";
import type { Proposal, ProposalRequest } from "../../core/integration/proposal.ts";
import { getExampleOwnerEmail } from "../../scripts/demo-world.ts";
import { createFormModel } from "../../workers/adapters/form-model.ts";
import { buildApp } from "../../workers/app.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { clearCodes, buildJsonRequest, signIn } from "../support/people.ts";
import { createHtmlResponse, redirectResponse, createStubWeb, type StubWeb } from "../support/stub-web.ts";
import { call, readDatabaseContents, createServiceCall, world, type TestResponse } from "../support/world.ts";

const at = "/v1/business/portal/integrate";
const url = "https://www.example.com/quote";
const validRequest = { url, mode: "consent", purpose: "solar quote follow-up", entities: ["Bright Homes Inc", "Acme Solar LLC"] };
const disclosure = "I agree that Acme Solar LLC and Bright Homes Inc may call me about solar quotes.";
const form = `<form id="quote" action="/leads" method="post">
<label for="mail">E-mail</label><input id="mail" name="mail" type="email" autocomplete="email">
<label>Phone <input name="tel" type="tel"></label>
<input name="x1" placeholder="When should we call?">
<input type="checkbox" id="agree" name="agree"><label for="agree" id="text">${disclosure}</label>
<button>Send</button></form>`;
const page = `<!doctype html><html><body><form role="search" action="/search"><input name="q"></form>${form}</body></html>`;

let web: StubWeb;
let cookie: Record<string, string>;
beforeEach(async () => {
  await clearCodes();
  cookie = await signIn(world.memberEmail);
  web = createStubWeb();
  for (const host of ["www.example.com", "shop.example.com"]) web.resolve(host, ["93.184.215.14"]);
  web.serve(url, page);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const free = createServiceCall({ LIMIT_INTEGRATE: "100000/3600" });
const requestIntegration = (change: object = {}, service = free, headers: Record<string, string> = cookie): Promise<TestResponse> =>
  service(at, buildJsonRequest({ ...validRequest, ...change }, headers));
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body.error?.code ?? "ok"}`;

const withParts = async (changed: Partial<Platform>, body: object = validRequest): Promise<TestResponse> => {
  const platform = await createPlatform({ ...env, LIMIT_INTEGRATE: "100000/3600" });
  const request = new Request(`http://svc.test${at}`, buildJsonRequest(body, cookie));
  const response = await buildApp(createServicesWith(platform, changed)).fetch(request, env, createExecutionContext());
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
};

describe("POST /v1/business/portal/integrate", () => {
  test("maps the form of a page and returns the script tag for it", async () => {
    const response = await requestIntegration();
    expect([response.status, response.body.data]).toEqual([
      200,
      {
        mode: "consent",
        page_url: url,
        form_selector: "#quote",
        checkbox_selector: "#agree",
        disclosure_selector: "#text",
        disclosure_text: disclosure,
        field_map: { "#mail": "email", 'input[name="tel"]': "phone" },
        entity_checkboxes: [],
        unmapped: ['input[name="x1"]'],
        warnings: ["The page has several forms. The form with the most contact fields was selected."],
        confidence: 0.88,
        source: "heuristic",
        snippet: `<script async src="http://svc.test/v1/svc.js"
  data-client-id="${world.acme.clients.live}"
  data-mode="consent"
  data-purpose="solar quote follow-up"
  data-entities="Bright Homes Inc|Acme Solar LLC"
  data-form-selector="#quote"
  data-checkbox-selector="#agree"
  data-disclosure-selector="#text"
  data-field-map='{"#mail":"email","input[name=\\"tel\\"]":"phone"}'></script>`,
      },
    ]);
  });

  test("returns the same result for the same page, and only shareable fields in share mode", async () => {
    expect((await requestIntegration()).body.data).toEqual((await requestIntegration()).body.data);
    web.serve(url, page.replace("x1", "company"));
    const { data } = (await requestIntegration({ mode: "share", entities: [] })).body;
    expect(data.snippet).toContain('data-mode="share"');
    expect(data.snippet).toContain('data-scope="email phone"');
    expect(data.snippet).not.toContain("data-entities");
    expect(data.unmapped).toEqual(['input[name="company"]']);
  });

  test("finds the recipient checkboxes, and warns about missing attributes", async () => {
    const boxes = `<input type="checkbox" id="b1" data-sp1-entity="Acme Solar LLC"><label for="b1">Acme</label>
      <input type="checkbox" id="b2"><label for="b2">Bright Homes Inc</label>`;
    web.serve(url, form.replace("<button>", `${boxes}<button>`));
    const { data } = (await requestIntegration()).body;
    expect(data.entity_checkboxes).toEqual([
      { selector: "#b1", entity: "Acme Solar LLC" },
      { selector: "#b2", entity: "Bright Homes Inc" },
    ]);
    expect(data.warnings).toEqual([
      "A recipient checkbox has no data-sp1-entity attribute. Add it with the recipient's name to each checkbox in entity_checkboxes.",
    ]);
  });

  test("selects a complete statement of agreement as the disclosure, not a question or a part of it", async () => {
    const sentence = "By pressing Send I agree that each company I ticked may call me about solar quotes.";
    web.serve(
      url,
      `<form id="f"><input type=email name=email><fieldset><legend>Who may contact you about it?</legend></fieldset>
       <p>We may call you on workdays.</p><p id="d">By pressing Send <b>I agree that each company</b> I ticked may call me about solar quotes.</p></form>`,
    );
    expect((await requestIntegration()).body.data).toMatchObject({ disclosure_selector: "#d", disclosure_text: sentence });
  });

  test("warns about what a page lacks", async () => {
    web.serve(url, "<form><input name=q7><input type=password name=p></form>");
    const { data } = (await requestIntegration()).body;
    expect(data).toMatchObject({ field_map: {}, confidence: 0, disclosure_text: null, checkbox_selector: null, form_selector: "form" });
    expect(data.unmapped).toEqual(['input[name="q7"]']);
    expect(data.warnings).toHaveLength(3);
  });

  test("refuses a page without a form, a page that is not HTML, and invalid input", async () => {
    web.serve(url, "<p>Nothing to fill in</p>");
    expect(describeOutcome(await requestIntegration())).toBe("400 invalid_request");
    web.serve(url, () => new Response("{}", { headers: { "content-type": "application/json" } }));
    expect(describeOutcome(await requestIntegration())).toBe("400 invalid_request");
    const fetched = web.calls.length;
    for (const bad of [
      { url: "quote" },
      { url: "ftp://www.example.com/" },
      { url: 7 },
      { mode: "both" },
      { purpose: "" },
      { purpose: "a\u202eb" },
      { purpose: "x".repeat(501) },
      { entities: [] },
      { entities: ["a|b"] },
      { entities: ["a\u0000"] },
      { entities: "Acme" },
    ])
      expect([bad, describeOutcome(await requestIntegration(bad))]).toEqual([bad, "400 invalid_request"]);
    expect(web.calls.length).toBe(fetched);
  });

  test("G11: fetches only pages on the business's verified domains, even after redirects", async () => {
    const hosts = [
      "https://evil.example.net/quote",
      "https://www.other.example/quote",
      "https://pending.example/quote",
      "https://lapsed.example/quote",
      "https://example.com.evil.net/",
      "https://www.example.com@evil.net/",
      "https://notexample.com/",
      "http://169.254.169.254/latest/",
    ];
    for (const foreign of hosts)
      expect(describeOutcome(await requestIntegration({ url: foreign }))).toMatch(/^(?:403 page_url_not_verified|400 invalid_request)$/);
    expect(describeOutcome(await requestIntegration({ url: hosts[0] as string }))).toBe("403 page_url_not_verified");
    expect(web.urls()).toEqual([]);
    for (const location of [
      "https://evil.example.net/x",
      "http://www.example.com/x",
      "https://127.0.0.1/",
      "https://localhost:8788/",
      "//evil.net/",
    ]) {
      web.serve(url, () => redirectResponse(location));
      expect(describeOutcome(await requestIntegration())).toBe("502 page_unreachable");
    }
    expect(web.urls()).toEqual(Array.from({ length: 5 }, () => url));
    web.serve(url, () => redirectResponse("https://shop.example.com/form"));
    web.serve("https://shop.example.com/form", page);
    expect((await requestIntegration()).body.data.form_selector).toBe("#quote");
    for (const sent of web.calls) expect([sent.headers.get("cookie"), sent.headers.get("authorization")]).toEqual([null, null]);
  });

  test("returns 400 for a port that is not allowed, and 502 for a host without a public address", async () => {
    expect(describeOutcome(await requestIntegration({ url: "https://www.example.com:8444/quote" }))).toBe("400 invalid_request");
    expect(describeOutcome(await requestIntegration({ url: "http://localhost:1/quote" }))).toBe("400 invalid_request");
    expect(describeOutcome(await requestIntegration({ url: "https://demo.example/quote" }))).toBe("502 page_unreachable");
    web.resolve("inside.example.com", ["10.0.0.1"]);
    expect(describeOutcome(await requestIntegration({ url: "https://inside.example.com/" }))).toBe("502 page_unreachable");
    expect(web.urls()).toEqual([]);
    web.serve("http://localhost:8788/", page);
    const local = createServiceCall({ DEV_FETCH_ALLOW: "localhost:8788", LIMIT_INTEGRATE: "1000/3600" });
    expect((await requestIntegration({ url: "http://localhost:8788/#form" }, local)).body.data.page_url).toBe("http://localhost:8788/");
  });

  test("G12: returns 502 page_unreachable for a page that fails, breaks off or is too large", async () => {
    for (const page of [
      () => createHtmlResponse("", { status: 500 }),
      () => createHtmlResponse("", { status: 404 }),
      () => createHtmlResponse("x".repeat(2 * 1_024 * 1_024 + 1)),
      () => {
        throw new Error("reset");
      },
    ]) {
      web.serve(url, page);
      expect(describeOutcome(await requestIntegration())).toBe("502 page_unreachable");
    }
  });

  test("G13: returns 429 after ten fetches an hour per business; requests that fetch nothing do not count", async () => {
    const limited = createServiceCall({ LIMIT_INTEGRATE: "2/3600" });
    const owner = await signIn(getExampleOwnerEmail("free"));
    const requestLimited = (change: object = {}) => requestIntegration(change, limited, owner);
    for (const nothing of [{ url: "https://evil.example.net/" }, { purpose: "" }, { url: "https://www.example.com:1/" }])
      await requestLimited(nothing);
    expect([describeOutcome(await requestLimited()), describeOutcome(await requestLimited())]).toEqual(["200 ok", "200 ok"]);
    const last = await requestLimited();
    expect([describeOutcome(last), Number(last.headers.get("retry-after")) > 0]).toEqual(["429 rate_limited", true]);
    expect(describeOutcome(await requestLimited({ purpose: "" }))).toBe("400 invalid_request");
  });

  test("requires a member of a business with write access", async () => {
    const requestOutcomeAs = async (email: string, realm: "business" | "consumer" = "business") =>
      describeOutcome(await requestIntegration({}, free, await signIn(email, realm)));
    expect(await requestOutcomeAs(world.consumerEmail, "consumer")).toBe("403 forbidden");
    expect(await requestOutcomeAs(getExampleOwnerEmail("past_due"))).toBe("402 subscription_past_due");
    expect(await requestOutcomeAs(getExampleOwnerEmail("suspended"))).toBe("402 business_suspended");
    expect(describeOutcome(await requestIntegration({}, free, {}))).toBe("401 unauthorized");
    expect(describeOutcome(await requestIntegration({}, free, { ...cookie, origin: "https://www.example.com" }))).toBe("403 csrf_failed");
    expect(web.urls()).toEqual([]);
  });

  test("stores nothing about the page", async () => {
    const before = await readDatabaseContents();
    await requestIntegration();
    expect(await readDatabaseContents()).toEqual(before);
  });
});

describe("POST /v1/business/portal/integrate, hostile pages", () => {
  test("G14: writes page content into the snippet only as attribute values", async () => {
    const evil = `"><script>alert(1)</script><x y='`;
    const attribute = evil.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    web.serve(
      url,
      `<form id="${attribute}"><input type=email id="${attribute}e" name="${attribute}"><input type=tel name="--&gt;\`\${1}\n">
       <input type=checkbox id="${attribute}b"><label for="${attribute}b" id="${attribute}l">I agree that you may call me ${attribute.replaceAll("<", "&lt;")}</label></form>`,
    );
    const { snippet } = (await requestIntegration({ purpose: evil, entities: [`A ${evil}`] })).body.data as { snippet: string };
    // Removes all attribute values that contain no angle brackets, backticks, line breaks or quotes that could end the value. Only the
    // expected markup may be left.
    const rest = snippet.replace(/=(?:"[^"<>'`\n]*"|'[^'<>`\n]*')/g, "");
    expect(rest).toBe(
      "<script async src\n  data-client-id\n  data-mode\n  data-purpose\n  data-entities\n  data-form-selector\n  data-checkbox-selector\n  data-disclosure-selector\n  data-field-map></script>",
    );
    const parsed: { name: string; value: string }[] = [];
    await new HTMLRewriter()
      .on("*", {
        element: (element) =>
          void parsed.push(...[...element.attributes].map(([name, value]) => ({ name: `${element.tagName} ${name}`, value: value ?? "" }))),
      })
      .transform(new Response(snippet))
      .text();
    expect(parsed.map(({ name }) => name)).toEqual(
      [
        "async",
        "src",
        "data-client-id",
        "data-mode",
        "data-purpose",
        "data-entities",
        "data-form-selector",
        "data-checkbox-selector",
        "data-disclosure-selector",
        "data-field-map",
      ].map((name) => `script ${name}`),
    );
  });

  test("G15: handles pages of endless depth or size", async () => {
    for (const body of [
      "<div>".repeat(300_000),
      "<form>".repeat(200_000),
      `<form>${"<input name=a>".repeat(100_000)}</form>`,
      `<form>${"<label>a b c ".repeat(90_000)}`,
    ]) {
      web.serve(url, body);
      expect(describeOutcome(await requestIntegration())).toMatch(/^(?:200 ok|400 invalid_request)$/);
    }
  });

  test.each([
    [
      "texts that are nested in each other in many forms",
      `${"<form>".padEnd(6)}${"<div>".repeat(300)}${"I agree that you may call me. ".repeat(300)}${"</div>".repeat(300)}</form>`.repeat(50),
    ],
    ["labels that are nested in each other around many fields", `<form>${"<label>".repeat(800)}${"<input name=a>".repeat(40_000)}`],
    [
      "elements that are nested deeply in many forms",
      `${"<div>".repeat(900)}${`<form>${"<p>I agree that you may call me.</p>".repeat(800)}</form>`.repeat(50)}`,
    ],
  ])("G15: gives up on a page with %s, and says so", async (_name, body) => {
    web.serve(url, body);
    const refused = await requestIntegration();
    expect([describeOutcome(refused), refused.body.error.message]).toEqual([
      "400 invalid_request",
      "url: the page is too complex to map. Use a simpler page with the same form.",
    ]);
  });

  test("maps a long page with many sections and one form", async () => {
    const section = `<section><div><h2>Solar</h2><p>${"Panels turn light into power. ".repeat(20)}</p></div></section>`;
    web.serve(
      url,
      `${section.repeat(1_000)}<form id="quote"><label>Email <input type="email" name="email"></label>${section.repeat(20)}</form>${section.repeat(1_000)}`,
    );
    const mapped = await requestIntegration();
    expect([describeOutcome(mapped), Object.values(mapped.body.data.field_map)]).toEqual(["200 ok", ["email"]]);
  });

  test("never maps passwords, card numbers, codes, hidden fields or disabled fields", async () => {
    web.serve(
      url,
      `<form><input type=email name=email><input type=hidden name=phone><input type=password name=zip><input name=cc-number autocomplete=cc-number>
       <input name=otp autocomplete=one-time-code><input name=city disabled><fieldset disabled><input name=state></fieldset><input name=ssn>
       <template><input name=first_name></template><!-- <input name=last_name> -->
       <label>${"About you. ".repeat(50)}Credit card number <input name=about></label></form>`,
    );
    const { field_map: map, unmapped } = (await requestIntegration()).body.data;
    expect([map, unmapped]).toEqual([{ 'input[name="email"]': "email" }, []]);
  });
});

describe("POST /v1/business/portal/integrate with a model", () => {
  const stubModel = (modelResponse: unknown): { ai: TextModelRunner; questions: ProposalRequest[] } => {
    const questions: ProposalRequest[] = [];
    const run = async (_model: string, input: object) => {
      const { messages } = input as { messages: { content: string }[] };
      questions.push(JSON.parse(messages[1]?.content as string));
      if (modelResponse instanceof Error) throw modelResponse;
      return { response: modelResponse };
    };
    return { ai: { run }, questions };
  };
  const withModel = (modelResponse: unknown, faults: string[] = []) => {
    const { ai, questions } = stubModel(modelResponse);
    return { questions, parts: { proposeMapping: createFormModel(ai, "model", (fault) => void faults.push(fault)) } };
  };
  /** Serves a page with a field name that was not sent to the model before, because the model's responses are cached. */
  const serveNewPage = (): void => web.serve(url, page.replace("x1", `x_${crypto.randomUUID()}`));

  test("adds the model's mapping of fields that the form itself does not explain, and sends only those fields", async () => {
    serveNewPage();
    const { questions, parts } = withModel({ fields: [{ n: 0, key: "job_title" }], checkbox: null, disclosure: null });
    const { data } = (await withParts(parts)).body;
    expect(data.source).toBe("ai");
    expect(Object.values(data.field_map)).toEqual(["email", "phone", "job_title"]);
    expect(data.unmapped).toEqual([]);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toEqual({
      controls: [{ n: 0, tag: "input", type: "text", name: expect.stringMatching(/^x_/), id: "", label: "When should we call?" }],
      boxes: [],
      texts: [],
    });
    // The response for the same page is cached, so the model is not called again.
    expect((await withParts(parts)).body.data).toEqual(data);
    expect(questions).toHaveLength(1);
  });

  test("G16: ignores a misbehaving model and instructions in the page", async () => {
    const readPlainResult = async () => (await withParts({ proposeMapping: async () => null })).body.data;
    for (const modelResponse of [
      "not json",
      "<script>alert(1)</script>",
      { fields: "all", checkbox: null, disclosure: null },
      { fields: [{ n: 0, key: "<script>" }], checkbox: null, disclosure: null },
      { fields: [{ n: 0, key: "password" }], checkbox: null, disclosure: null },
      { fields: [{ n: 0, key: "email" }], checkbox: null, disclosure: null },
      { fields: [{ n: 7, key: "city" }], checkbox: 4, disclosure: 9 },
      { fields: [{ n: -1, key: "city" }], checkbox: null, disclosure: null },
      { fields: [{ n: 0.5, key: "city" }], checkbox: null, disclosure: null },
      { fields: [], checkbox: 0, disclosure: 0, snippet: "<script src=https://evil.net></script>", form_selector: "#other" },
      null,
      new Error("no capacity"),
    ]) {
      serveNewPage();
      const expected = await readPlainResult();
      const { parts } = withModel(modelResponse);
      expect([modelResponse, (await withParts(parts)).body.data]).toEqual([modelResponse, expected]);
      expect(expected.source).toBe("heuristic");
    }
  });

  test("lets the model choose checkbox and disclosure from the form when no rule finds them", async () => {
    web.serve(
      url,
      `<form id=f><input type=email name=email><input type=checkbox name=b1 id=b1><p id=t1>Genehmigung fuer Anrufe ${crypto.randomUUID()}</p></form>`,
    );
    const proposal: Proposal = { fields: [], checkbox: 0, disclosure: 0 };
    const { parts } = withModel(JSON.stringify(proposal));
    expect((await withParts(parts)).body.data).toMatchObject({
      source: "ai",
      checkbox_selector: "#b1",
      disclosure_selector: "#t1",
      warnings: [],
    });
  });

  test("calls the model only if the binding exists", async () => {
    serveNewPage();
    expect((await requestIntegration()).body.data.source).toBe("heuristic");
    serveNewPage();
    const { ai, questions } = stubModel({ fields: [{ n: 0, key: "company" }], checkbox: null, disclosure: null });
    const bound = createServiceCall({ AI: ai, LIMIT_INTEGRATE: "1000/3600" });
    expect((await requestIntegration({}, bound)).body.data.source).toBe("ai");
    expect(questions).toHaveLength(1);
  });
});

test("POST /v1/business/portal/integrate does not use the client or domains of another business", async () => {
  const other = await signIn(world.otherOwnerEmail);
  expect(describeOutcome(await requestIntegration({}, free, other))).toBe("403 page_url_not_verified");
  expect(describeOutcome(await call(at, buildJsonRequest({ ...validRequest, business_id: world.acme.id }, other)))).toBe(
    "403 page_url_not_verified",
  );
});
