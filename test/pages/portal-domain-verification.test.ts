// Tests that owners can add a domain by pasting a URL, and that members see the texts of the domain's DNS records if a DNS verification
// fails. The texts are shown as plain text and are limited in number and length. The API's message never contains them.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { callPortal, signUpBusiness } from "../support/portal.ts";
import { openPage, parsePage, getPageText, submitForm, describeRedirect } from "../support/portal-pages.ts";
import { createStubWeb, type StubWeb } from "../support/stub-web.ts";
import { readDatabaseContents, type TestResponse } from "../support/world.ts";
import { findByTagName, extractText } from "./page.ts";

const heading = "We found other TXT records at that name:";

let round = 0;
let web: StubWeb;
let owner: Awaited<ReturnType<typeof signUpBusiness>>;
let domain: string;
let path: string;
beforeEach(async () => {
  round += 1;
  domain = `proofs-${round}.com`;
  owner = await signUpBusiness(`owner@proof-pages-${round}.example`);
  path = describeRedirect(await submitForm(owner, "/portal/domains", "/portal/domains", { domain }))
    .slice(4)
    .split("?")[0] as string;
  web = createStubWeb();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const publish = (texts: readonly string[]): void =>
  web.resolve(`_svc-challenge.${domain}`, () => {
    const name = `_svc-challenge.${domain}`;
    return Response.json({ Status: 0, Answer: texts.map((text) => ({ name, type: 16, TTL: 60, data: JSON.stringify(text) })) });
  });
const check = (): Promise<TestResponse> => submitForm(owner, path, `${path}/verify`);
const readListItems = (response: TestResponse): readonly string[] => {
  const [list] = findByTagName(parsePage(response).document, "ul").filter(({ attribs }) => attribs.class === "plain");
  return list === undefined ? [] : findByTagName(list.children as never, "bdi").map(extractText);
};

test("a failed check lists each text found in DNS once and changes no row", async () => {
  publish(["v=spf1 -all", "v=spf1 -all", "svc-verify=of-another"]);
  const before = await readDatabaseContents();
  const response = await check();
  expect([response.status, getPageText(response)]).toEqual([409, expect.stringContaining(heading)]);
  expect(readListItems(response)).toEqual(["v=spf1 -all", "svc-verify=of-another"]);
  expect(await readDatabaseContents()).toEqual(before);
});

test("a failed check shows the texts as plain text, at most three, of at most one hundred characters each", async () => {
  const long = "😀".repeat(150);
  publish(["<b id=planted>bold</b>", long, "third", "fourth"]);
  const response = await check();
  expect(readListItems(response)).toEqual(["<b id=planted>bold</b>", `${"😀".repeat(50)}…`, "third"]);
  expect(response.text).not.toContain("<b id=planted>");
  expect(getPageText(response)).not.toContain("fourth");
});

test("a failed check shows no texts if DNS has none", async () => {
  publish([]);
  const response = await check();
  expect(getPageText(response)).not.toContain(heading);
  expect(getPageText(response)).toContain("DNS record: not found.");
});

test("the API never repeats the texts", async () => {
  publish(["v=spf1 of-a-stranger"]);
  const response = await callPortal(owner, "POST", `/domains/${path.split("/").at(-1)}/verify`, {});
  expect([response.status, response.body.error.code]).toEqual([409, "domain_unverified"]);
  expect(response.text).not.toContain("of-a-stranger");
});

test("a pasted URL keeps www if the rest is not a domain", async () => {
  const added = await submitForm(owner, "/portal/domains", "/portal/domains", { domain: "https://www.de/" });
  const page = await openPage(owner, describeRedirect(added).slice(4));
  expect([page.status, getPageText(page)]).toEqual([200, expect.stringContaining("_svc-challenge.www.de")]);
});

test("a pasted URL adds the domain of the page, without www", async () => {
  const url = `https://www.pasted-${round}.com/quote?from=ad#form`;
  const added = await submitForm(owner, "/portal/domains", "/portal/domains", { domain: url });
  const page = await openPage(owner, describeRedirect(added).slice(4));
  expect([page.status, getPageText(page)]).toEqual([200, expect.stringContaining(`_svc-challenge.pasted-${round}.com`)]);
});
