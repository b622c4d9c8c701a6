// Views of the certificates that a business keeps by name: what is kept is the filter as it stands in the address, without a person.
import { beforeEach, expect, test } from "vitest";
import { findEmailCode, getCookie, clearCodes, submitEmailCode, signIn } from "../support/people.ts";
import { listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import { getFormToken } from "../support/portal-cast.ts";
import { openPage, postForm, getPageText, submitForm, parseFormFields, describeRedirect, type Member } from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { readDatabaseContents } from "../support/world.ts";
import { named, textOf, type ReadPage } from "./page.ts";

const list = "/portal/certificates";
const action = `${list}/views`;
const filtered = `${list}?status=active&website=www.example.com`;

let round = 0;
let owner: Awaited<ReturnType<typeof signUpBusiness>>;
beforeEach(async () => {
  round += 1;
  owner = await signUpBusiness(`owner@view-pages-${round}.example`);
  await openPage(owner, list); // the first use of a session in a day is noted
  await waitUntilSettled();
});

const save = (name: string, from = filtered, who: Member = owner) => submitForm(who, from, action, { name });
const viewsOn = (page: ReadPage): readonly (readonly [string, string | undefined])[] => {
  const [nav] = named(page.document, "nav").filter(({ attribs }) => attribs["aria-label"] === "Views");
  return named([nav as never], "a").map((link) => [textOf(link), link.attribs.href]);
};
const own = async (who: Member = owner): Promise<readonly (readonly [string, string | undefined])[]> =>
  viewsOn(await openPage(who, list)).slice(3); // after all, active and withdrawn

test("a filter is kept under a name, for everybody of the business, and in both modes", async () => {
  expect(describeRedirect(await save("Active on the site"))).toBe(`303 ${filtered}`);
  expect(await own()).toEqual([["Active on the site", filtered]]);
  await submitForm(owner, "/portal/team", "/portal/team", { email: `clerk@view-pages-${round}.example`, role: "member" });
  await clearCodes();
  const clerk = await signIn(`clerk@view-pages-${round}.example`);
  expect(await own(clerk)).toEqual([["Active on the site", filtered]]);
  const page = await openPage(clerk, filtered);
  expect(named(page.document, "a").find(({ attribs }) => attribs.href === filtered)?.attribs["aria-current"]).toBe("true");
  expect(() => parseFormFields(page, action)).toThrow("no form"); // it is saved already
  expect(viewsOn(await openPage(clerk, "/portal/test/certificates")).at(-1)).toEqual([
    "Active on the site",
    filtered.replace("/portal/", "/portal/test/"),
  ]);
  const stranger = await signUpBusiness(`stranger@view-pages-${round}.example`);
  expect(await own(stranger)).toEqual([]);
});

test("each change is entered in the audit chain, and nothing of the name", async () => {
  await save("Active on the site");
  await submitForm(owner, list, `${action}/remove`, { name: "Active on the site" });
  expect(await own()).toEqual([]);
  expect((await listAuditEntryTypes(owner.id)).slice(-2)).toEqual(["view.saved", "view.removed"]);
});

test("sent twice it is one, and removed twice it is gone once", async () => {
  const form = { ...parseFormFields(await openPage(owner, filtered), action), name: "Twice" };
  expect([describeRedirect(await postForm(owner, action, form)), describeRedirect(await postForm(owner, action, form))]).toEqual([
    `303 ${filtered}`,
    `303 ${filtered}`,
  ]);
  expect(await own()).toHaveLength(1);
  const removal = { form: await getFormToken(owner, `${action}/remove`), name: "Twice" };
  for (let times = 0; times < 2; times += 1)
    expect(describeRedirect(await postForm(owner, `${action}/remove`, removal))).toBe(`303 ${list}`);
  expect((await listAuditEntryTypes(owner.id)).filter((type) => type.startsWith("view."))).toEqual(["view.saved", "view.removed"]);
});

test.each([
  ["nothing visible", "   ", "Must hold something visible."],
  ["too long", "n".repeat(61), "Must be at most 60 characters."],
  ["of two lines", "one\ntwo", "Must"],
])("a name that is %s is refused beside its field, kept as typed, and changes no row", async (_what, name, why) => {
  const before = await readDatabaseContents();
  const answer = await save(name);
  expect([answer.status, getPageText(answer)]).toEqual([400, expect.stringContaining(why)]);
  expect(answer.text).toContain('aria-invalid="true"');
  expect(await readDatabaseContents()).toEqual(before);
});

test("a name that another view has is refused; a view may have two names", async () => {
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
  expect((await own()).map(([name]) => name)).toEqual(["Also mine", "Mine"]);
});

test("there are twenty at most, also of those that are sent at once", async () => {
  const form = parseFormFields(await openPage(owner, filtered), action);
  for (let at = 1; at < 20; at += 1) await postForm(owner, action, { ...form, name: `View ${String(at).padStart(2, "0")}` });
  const answers = await Promise.all(["a", "b", "c"].map((name) => postForm(owner, action, { ...form, name })));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
  expect(getPageText(answers.find(({ status }) => status === 400) as never)).toContain("Saved view limit reached.");
  expect(await own()).toHaveLength(20);
});

test("a person is never part of one, nor anything that is no filter", async () => {
  const found = await submitForm(owner, list, `${list}/find`, { person: "pat@example.com" });
  const page = await openPage(owner, describeRedirect(found).slice(4));
  expect(() => parseFormFields(page, action)).toThrow("no form");
  const sealed = new URLSearchParams(describeRedirect(found).split("?")[1]).get("person") as string;
  const form = { form: await getFormToken(owner, action), name: "Pat", person: sealed, evil: "1", page: "7" };
  expect(describeRedirect(await postForm(owner, action, form))).toBe(`303 ${list}`);
  expect(await own()).toEqual([]);
  expect(describeRedirect(await postForm(owner, action, { ...form, website: "www.example.com" }))).toBe(
    `303 ${list}?website=www.example.com`,
  );
  expect(await own()).toEqual([["Pat", `${list}?website=www.example.com`]]);
});

test("a name is text wherever it stands", async () => {
  await save("<b id=planted>bold</b>");
  const page = await openPage(owner, list);
  expect(page.text).not.toContain("<b id=planted>");
  expect((await own())[0]?.[0]).toBe("<b id=planted>bold</b>");
});

test("a form from elsewhere, of another session, or sent while a payment is due changes nothing", async () => {
  const form = { ...parseFormFields(await openPage(owner, filtered), action), name: "Stolen" };
  const before = await readDatabaseContents();
  expect((await postForm(owner, action, { name: "Stolen", status: "active" })).status).toBe(403);
  expect((await postForm(owner, action, form, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect(describeRedirect(await postForm({ cookie: "" }, action, form))).toBe("303 /portal/sign-in");
  expect(await readDatabaseContents()).toEqual(before);
  await clearCodes();
  await postForm({ cookie: "" }, "/portal/sign-in", { email: `owner@view-pages-${round}.example` });
  const again = await submitEmailCode(
    `owner@view-pages-${round}.example`,
    await findEmailCode(`owner@view-pages-${round}.example`),
    "business",
  );
  expect((await postForm({ cookie: getCookie(again) }, action, form)).status).toBe(403);
  expect(await own()).toEqual([]);
});
