// Tests the snippet builder's form. It keeps and marks invalid input, fetches no page for unauthorized callers, and returns the result
// without storing it.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { clearCodes } from "../support/people.ts";
import { signUpBusiness, verifyDomain } from "../support/portal.ts";
import { getFormToken } from "../support/portal-cast.ts";
import {
  acceptInvitation,
  openPage,
  parsePage,
  postForm,
  getPageText,
  submitForm,
  parseFormFields,
  describeRedirect,
  type Member,
} from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { createStubWeb, type StubWeb } from "../support/stub-web.ts";
import { readDatabaseContents, type TestResponse } from "../support/world.ts";
import { findByTagName, extractText } from "./page.ts";

const path = "/portal/snippet";
const domain = "integration-pages.com";
const url = `https://${domain}/quote`;
const typed = { url, mode: "consent", purpose: "solar quote", entities: "Acme Solar LLC\nBright Homes Inc" };
const page = `<!doctype html><html><body><form id="quote"><label>E-mail <input name="email" type="email"></label>
<input type="checkbox" id="agree"><label for="agree" id="text">I agree that Acme Solar LLC may call me.</label></form></body></html>`;

let clerk: Member;
let owner: Awaited<ReturnType<typeof signUpBusiness>>;
let web: StubWeb;
beforeAll(async () => {
  // The tests use their own business, because page fetches are limited per business per hour.
  owner = await signUpBusiness("owner@integration-pages.example");
  await verifyDomain(owner, domain, createStubWeb());
  vi.restoreAllMocks();
  await submitForm(owner, "/portal/team", "/portal/team", { email: "clerk@integration-pages.example", role: "member" });
  await clearCodes();
  clerk = await acceptInvitation("clerk@integration-pages.example");
  // The first use of a session each day writes a row, so each session is used once before the tests.
  for (const member of [owner, clerk]) await openPage(member, path);
  await waitUntilSettled();
});
beforeEach(() => {
  web = createStubWeb();
  web.resolve(domain, ["93.184.215.14"]);
  web.serve(url, page);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const listInvalidFields = (response: TestResponse): readonly string[] =>
  [...findByTagName(parsePage(response).document, "input"), ...findByTagName(parsePage(response).document, "textarea")]
    .filter(({ attribs }) => attribs["aria-invalid"] === "true")
    .map(({ attribs }) => attribs.name as string);

test.each([
  ["no URL", { url: "" }, "url"],
  ["a URL without https", { url: `http://${domain}/quote` }, "url"],
  ["a word instead of a URL", { url: "quote" }, "url"],
  ["no purpose", { purpose: " " }, "purpose"],
  ["a purpose of 501 characters", { purpose: "p".repeat(501) }, "purpose"],
  ["no recipient", { entities: " \n " }, "entities"],
  ["a recipient with a vertical bar", { entities: "Acme | Bright" }, "entities"],
])("refuses %s next to its field, keeps the input, and fetches nothing", async (_what, change, field) => {
  const response = await submitForm(clerk, path, path, { ...typed, ...change });
  expect([response.status, listInvalidFields(response)]).toEqual([400, [field]]);
  expect(getPageText(response)).toMatch(/Error: .+/);
  const purpose = findByTagName(parsePage(response).document, "input").find(({ attribs }) => attribs.name === "purpose")?.attribs.value;
  expect(purpose).toBe({ ...typed, ...change }.purpose);
  expect(web.urls()).toEqual([]);
});

describe("fetching nothing and changing no row", () => {
  test("for a form from another site, of another session, or without a session", async () => {
    const form = { ...parseFormFields(await openPage(clerk, path), path), ...typed };
    const before = await readDatabaseContents();
    const statuses = [
      await postForm(clerk, path, typed),
      await postForm(owner, path, form),
      await postForm(clerk, path, form, { "sec-fetch-site": "cross-site" }),
      await postForm(clerk, path, { ...form, form: await getFormToken(clerk, "/portal/test/snippet") }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect(describeRedirect(await postForm({ cookie: "" }, path, form))).toBe("303 /portal/sign-in");
    expect(web.urls()).toEqual([]);
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("for a business that does not own the page", async () => {
    const stranger = await signUpBusiness("stranger@integration-pages.example");
    const refused = await submitForm(stranger, path, path, typed);
    expect([refused.status, listInvalidFields(refused)]).toEqual([403, ["url"]]);
    expect(web.urls()).toEqual([]);
  });

  test("for a page whose domain was removed after the form was opened", async () => {
    const form = { ...parseFormFields(await openPage(clerk, path), path), ...typed };
    const lapsed = "UPDATE domains SET status = ? WHERE business_id = ? AND status = ?";
    await env.DB.prepare(lapsed).bind("lapsed", owner.id, "verified").run();
    const refused = await postForm(clerk, path, form);
    await env.DB.prepare(lapsed).bind("verified", owner.id, "lapsed").run();
    expect([refused.status, listInvalidFields(refused)]).toEqual([403, ["url"]]);
    expect(web.urls()).toEqual([]);
  });

  test("while a payment is due: shows no form, and refuses a form that was opened earlier", async () => {
    const form = { ...parseFormFields(await openPage(clerk, path), path), ...typed };
    const setStatus = (status: string) => env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, owner.id).run();
    await setStatus("past_due");
    const page = await openPage(clerk, path);
    const refused = await postForm(clerk, path, form);
    await setStatus("active");
    expect(() => parseFormFields(page, path)).toThrow("no form");
    expect([refused.status, getPageText(refused)]).toEqual([
      402,
      expect.stringContaining("Your payment is past due. You can make changes once you’ve paid."),
    ]);
    expect(web.urls()).toEqual([]);
  });
});

test("returns the same tag when a member submits twice, and stores nothing", async () => {
  const form = { ...parseFormFields(await openPage(clerk, path), path), ...typed };
  const before = await readDatabaseContents();
  const readTag = (response: TestResponse): string => {
    const [code] = findByTagName(parsePage(response).document, "code").filter(({ attribs }) => attribs.id === "tag");
    return code === undefined ? "" : extractText(code);
  };
  const [first, second] = [await postForm(clerk, path, form), await postForm(clerk, path, form)];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(readTag(first)).toContain('data-client-id="pc_live_');
  expect(readTag(second)).toBe(readTag(first));
  expect(await readDatabaseContents()).toEqual(before);
  const reopened = await openPage(clerk, path);
  expect(findByTagName(reopened.document, "code").some(({ attribs }) => attribs.id === "tag")).toBe(false);
});

test("explains that a page does not respond or has no form", async () => {
  web.serve(url, () => new Response("", { status: 500 }));
  const response = await submitForm(clerk, path, path, typed);
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(getPageText(response)).toMatch(/Error: .+/);
  web.serve(url, "<!doctype html><html><body><p>Nothing to fill in</p></body></html>");
  const empty = await submitForm(clerk, path, path, typed);
  expect([empty.status, listInvalidFields(empty), getPageText(empty)]).toEqual([
    400,
    ["url"],
    expect.stringContaining("The page must contain a form."),
  ]);
});
