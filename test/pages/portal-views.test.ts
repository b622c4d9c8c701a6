// Tests saved views of the certificate list. A view stores the filter from the URL, without personal data.
import { beforeEach, expect, test } from "vitest";
import { findEmailCode, getCookie, clearCodes, submitEmailCode } from "../support/people.ts";
import { listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import { getFormToken } from "../support/portal-cast.ts";
import {
  acceptInvitation,
  openPage,
  postForm,
  getPageText,
  submitForm,
  parseFormFields,
  describeRedirect,
  type Member,
} from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { readDatabaseContents } from "../support/world.ts";
import { findByTagName, extractText, withAttribute, type ReadPage } from "./page.ts";

const list = "/portal/certificates";
const action = `${list}/views`;
const filtered = `${list}?status=active&website=www.example.com`;

let round = 0;
let owner: Awaited<ReturnType<typeof signUpBusiness>>;
beforeEach(async () => {
  round += 1;
  owner = await signUpBusiness(`owner@view-pages-${round}.example`);
  await openPage(owner, list); // the first use of a session each day writes a row, so the session is used once before the tests
  await waitUntilSettled();
});

const save = (name: string, from = filtered, member: Member = owner) => submitForm(member, from, action, { name });
const listViews = (page: ReadPage): readonly (readonly [string, string | undefined])[] => {
  return findByTagName(withAttribute(page.document, "class", "saved-view"), "a").map((link) => [extractText(link), link.attribs.href]);
};
const listOwnViews = async (member: Member = owner): Promise<readonly (readonly [string, string | undefined])[]> =>
  listViews(await openPage(member, list));

test("saves a filter under a name for all members and both environments", async () => {
  expect(describeRedirect(await save("Active on the site"))).toBe(`303 ${filtered}`);
  expect(await listOwnViews()).toEqual([["Active on the site", filtered]]);
  await submitForm(owner, "/portal/team", "/portal/team", { email: `clerk@view-pages-${round}.example`, role: "member" });
  await clearCodes();
  const clerk = await acceptInvitation(`clerk@view-pages-${round}.example`);
  expect(await listOwnViews(clerk)).toEqual([["Active on the site", filtered]]);
  const page = await openPage(clerk, filtered);
  const [saved] = findByTagName(withAttribute(page.document, "class", "saved-view"), "a");
  expect([saved?.attribs.href, saved?.attribs["aria-current"]]).toEqual([filtered, "true"]);
  expect(() => parseFormFields(page, action)).toThrow("no form"); // there is no form because the view is already saved
  expect(listViews(await openPage(clerk, "/portal/test/certificates")).at(-1)).toEqual([
    "Active on the site",
    filtered.replace("/portal/", "/portal/test/"),
  ]);
  const stranger = await signUpBusiness(`stranger@view-pages-${round}.example`);
  expect(await listOwnViews(stranger)).toEqual([]);
});

test("records each change in the audit chain without the name", async () => {
  await save("Active on the site");
  await submitForm(owner, list, `${action}/remove`, { name: "Active on the site" });
  expect(await listOwnViews()).toEqual([]);
  expect((await listAuditEntryTypes(owner.id)).slice(-2)).toEqual(["view.saved", "view.removed"]);
});

test("creates one view when sent twice and removes it once", async () => {
  const form = { ...parseFormFields(await openPage(owner, filtered), action), name: "Twice" };
  expect([describeRedirect(await postForm(owner, action, form)), describeRedirect(await postForm(owner, action, form))]).toEqual([
    `303 ${filtered}`,
    `303 ${filtered}`,
  ]);
  expect(await listOwnViews()).toHaveLength(1);
  const removal = { form: await getFormToken(owner, `${action}/remove`), name: "Twice" };
  for (let times = 0; times < 2; times += 1)
    expect(describeRedirect(await postForm(owner, `${action}/remove`, removal))).toBe(`303 ${list}`);
  expect((await listAuditEntryTypes(owner.id)).filter((type) => type.startsWith("view."))).toEqual(["view.saved", "view.removed"]);
});

test.each([
  ["blank", "   ", "Must not be empty."],
  ["too long", "n".repeat(61), "Must be at most 60 characters."],
  ["of two lines", "one\ntwo", "Must"],
])("refuses a name that is %s next to its field, keeps the input, and changes no row", async (_what, name, why) => {
  const before = await readDatabaseContents();
  const response = await save(name);
  expect([response.status, getPageText(response)]).toEqual([400, expect.stringContaining(why)]);
  expect(response.text).toContain('aria-invalid="true"');
  expect(await readDatabaseContents()).toEqual(before);
});

test("refuses a name that is taken, but allows two names for one view", async () => {
  await save("Mine");
  const other = await save("Mine", `${list}?status=revoked&website=www.example.com`);
  expect([other.status, getPageText(other)]).toEqual([400, expect.stringContaining("Another view has this name.")]);
  const form = {
    ...parseFormFields(await openPage(owner, `${list}?website=two.example`), action),
    name: "Also mine",
    status: "active",
    website: "www.example.com",
  };
  expect(describeRedirect(await postForm(owner, action, form))).toBe(`303 ${filtered}`);
  expect((await listOwnViews()).map(([name]) => name)).toEqual(["Also mine", "Mine"]);
});

test("allows twenty views, even when they are sent at the same time", async () => {
  const form = parseFormFields(await openPage(owner, filtered), action);
  for (let at = 1; at < 20; at += 1) await postForm(owner, action, { ...form, name: `View ${String(at).padStart(2, "0")}` });
  const responses = await Promise.all(["a", "b", "c"].map((name) => postForm(owner, action, { ...form, name })));
  expect(responses.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
  expect(getPageText(responses.find(({ status }) => status === 400) as never)).toContain("Saved view limit reached (20).");
  expect(await listOwnViews()).toHaveLength(20);
});

test("never stores a person or anything that is not a filter", async () => {
  const found = await submitForm(owner, filtered, `${list}/find`, { person: "pat@example.com" });
  const page = await openPage(owner, describeRedirect(found).slice(4));
  expect(() => parseFormFields(page, action)).toThrow("no form");
  const sealed = new URLSearchParams(describeRedirect(found).split("?")[1]).get("person") as string;
  const form = { form: await getFormToken(owner, action), name: "Pat", person: sealed, evil: "1", page: "7" };
  expect(describeRedirect(await postForm(owner, action, form))).toBe(`303 ${list}`);
  expect(await listOwnViews()).toEqual([]);
  expect(describeRedirect(await postForm(owner, action, { ...form, website: "www.example.com" }))).toBe(
    `303 ${list}?website=www.example.com`,
  );
  expect(await listOwnViews()).toEqual([["Pat", `${list}?website=www.example.com`]]);
});

test("shows a name as text everywhere", async () => {
  await save("<b id=planted>bold</b>");
  const page = await openPage(owner, list);
  expect(page.text).not.toContain("<b id=planted>");
  expect((await listOwnViews())[0]?.[0]).toBe("<b id=planted>bold</b>");
});

test("refuses a form from another site, of another session, or while a payment is due", async () => {
  const form = { ...parseFormFields(await openPage(owner, filtered), action), name: "Stolen" };
  const before = await readDatabaseContents();
  expect((await postForm(owner, action, { name: "Stolen", status: "active" })).status).toBe(403);
  expect((await postForm(owner, action, form, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect(describeRedirect(await postForm({ cookie: "" }, action, form))).toBe("303 /portal/sign-in");
  expect(await readDatabaseContents()).toEqual(before);
  await clearCodes();
  await postForm({ cookie: "" }, "/portal/sign-in", { email: `owner@view-pages-${round}.example` });
  const repeated = await submitEmailCode(
    `owner@view-pages-${round}.example`,
    await findEmailCode(`owner@view-pages-${round}.example`),
    "business",
  );
  expect((await postForm({ cookie: getCookie(repeated) }, action, form)).status).toBe(403);
  expect(await listOwnViews()).toEqual([]);
});
