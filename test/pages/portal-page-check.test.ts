// Tests what the snippet builder reports about a business's page: whether it contains the tag exactly once, with the business's own client
// ID.
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { signIn } from "../support/people.ts";
import { parsePage, getPageText, submitForm, type Member } from "../support/portal-pages.ts";
import { createStubWeb, type StubWeb } from "../support/stub-web.ts";
import { world } from "../support/world.ts";
import { findByTagName, extractText } from "./page.ts";

const url = "https://www.example.com/quote";
const form = '<form id="quote"><input name="email" type="email"><p id="text">I agree that Acme Solar LLC may call me.</p></form>';
const buildScriptTag = (clientId: string, src = "http://svc.test/v1/svc.js"): string =>
  `<script async src="${src}" data-client-id="${clientId}"></script>`;
const ownScript = buildScriptTag(world.acme.clients.live);

const none = "Tag not installed yet";
const once = "Tag installed";
const other = "Tag has a different client ID";
const several = "Tag is on the page more than once";

let member: Member;
let web: StubWeb;
beforeAll(async () => {
  member = await signIn(world.memberEmail);
});
beforeEach(() => {
  web = createStubWeb();
  web.resolve("www.example.com", ["93.184.215.14"]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const readResultFor = async (page: string, at = "/portal/snippet"): Promise<string> => {
  web.serve(url, `<!doctype html><html><body>${page}</body></html>`);
  const response = await submitForm(member, at, at, { url, mode: "consent", purpose: "solar quote", entities: "Acme Solar LLC" });
  expect(response.status).toBe(200);
  return getPageText(response);
};

test.each([
  ["without the tag", form, none],
  ["with its tag", `${form}${ownScript}`, once],
  ["with the tag of its test client", `${form}${buildScriptTag(world.acme.clients.sandbox)}`, other],
  ["with another business's tag", `${form}${buildScriptTag(world.other.clients.live)}`, other],
  ["with its tag twice", `${ownScript}${form}${ownScript}`, several],
  [
    "with a script of another address that names the client",
    `${form}${buildScriptTag(world.acme.clients.live, "https://evil.example/v1/svc.js")}`,
    none,
  ],
  ["with its tag in a comment and in a template only", `${form}<!-- ${ownScript} --><template>${ownScript}</template>`, none],
])("reports a page %s", async (_name, page, words) => {
  const shown = await readResultFor(page);
  expect([none, once, other, several].filter((one) => shown.includes(one))).toEqual([words]);
});

test("accepts the tag of the test client in test mode", async () => {
  expect(await readResultFor(`${form}${buildScriptTag(world.acme.clients.sandbox)}`, "/portal/test/snippet")).toContain(once);
});

test("does not repeat what the page wrote into its tag", async () => {
  web.serve(url, `<html><body>${form}${buildScriptTag("&lt;b id=planted&gt;hello")}</body></html>`);
  const response = await submitForm(member, "/portal/snippet", "/portal/snippet", {
    url,
    mode: "consent",
    purpose: "solar quote",
    entities: "Acme",
  });
  expect(getPageText(response)).toContain(other);
  expect(response.text).not.toContain("planted");
  expect(findByTagName(parsePage(response).document, "code").map(extractText).join()).toContain(world.acme.clients.live);
});
