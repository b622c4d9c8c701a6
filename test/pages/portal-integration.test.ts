// The page that writes a tag, as a form: what is typed wrong is kept and named, nothing is fetched for whoever may not ask, and what is
// mapped is in the answer and nowhere else.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { forgetCodes, signIn } from "../support/people.ts";
import { newBusiness, proveDomain } from "../support/portal.ts";
import { formTokenOf } from "../support/portal-cast.ts";
import { open, parsed, post, said, send, standingIn, to, type Member } from "../support/portal-pages.ts";
import { settled } from "../support/settled.ts";
import { stubWeb, type StubWeb } from "../support/stub-web.ts";
import { databaseContents, type Answer } from "../support/world.ts";
import { named, textOf } from "./page.ts";

const path = "/portal/snippet";
const domain = "integration-pages.com";
const url = `https://${domain}/quote`;
const typed = { url, mode: "consent", purpose: "solar quote", entities: "Acme Solar LLC\nBright Homes Inc" };
const page = `<!doctype html><html><body><form id="quote"><label>E-mail <input name="email" type="email"></label>
<input type="checkbox" id="agree"><label for="agree" id="text">I agree that Acme Solar LLC may call me.</label></form></body></html>`;

let clerk: Member;
let owner: Awaited<ReturnType<typeof newBusiness>>;
let web: StubWeb;
beforeAll(async () => {
  // A business of its own: how often one may have a page fetched is counted by the hour.
  owner = await newBusiness("owner@integration-pages.example");
  await proveDomain(owner, domain, stubWeb());
  vi.restoreAllMocks();
  await send(owner, "/portal/team", "/portal/team", { email: "clerk@integration-pages.example", role: "member" });
  await forgetCodes();
  clerk = await signIn("clerk@integration-pages.example");
  for (const who of [owner, clerk]) await open(who, path); // the first use of a session in a day is noted
  await settled();
});
beforeEach(() => {
  web = stubWeb();
  web.resolve(domain, ["93.184.215.14"]);
  web.serve(url, page);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const wrongField = (answer: Answer): readonly string[] =>
  [...named(parsed(answer).document, "input"), ...named(parsed(answer).document, "textarea")]
    .filter(({ attribs }) => attribs["aria-invalid"] === "true")
    .map(({ attribs }) => attribs.name as string);

test.each([
  ["no address", { url: "" }, "url"],
  ["an address without https", { url: `http://${domain}/quote` }, "url"],
  ["a word in the place of an address", { url: "quote" }, "url"],
  ["no purpose", { purpose: " " }, "purpose"],
  ["a purpose of 501 characters", { purpose: "p".repeat(501) }, "purpose"],
  ["no recipient", { entities: " \n " }, "entities"],
  ["a recipient with a vertical bar", { entities: "Acme | Bright" }, "entities"],
])("with %s it is refused beside its field, keeps what was typed, and fetches nothing", async (_what, change, field) => {
  const answer = await send(clerk, path, path, { ...typed, ...change });
  expect([answer.status, wrongField(answer)]).toEqual([400, [field]]);
  expect(said(answer)).toMatch(/Error: .+/);
  const kept = named(parsed(answer).document, "input").find(({ attribs }) => attribs.name === "purpose")?.attribs.value;
  expect(kept).toBe({ ...typed, ...change }.purpose);
  expect(web.urls()).toEqual([]);
});

describe("nothing is fetched and no row changes", () => {
  test("for a form from elsewhere, of another session, or of nobody", async () => {
    const form = { ...standingIn(await open(clerk, path), path), ...typed };
    const before = await databaseContents();
    const statuses = [
      await post(clerk, path, typed),
      await post(owner, path, form),
      await post(clerk, path, form, { "sec-fetch-site": "cross-site" }),
      await post(clerk, path, { ...form, form: await formTokenOf(clerk, "/portal/test/snippet") }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect(to(await post({ cookie: "" }, path, form))).toBe("303 /portal/sign-in");
    expect(web.urls()).toEqual([]);
    expect(await databaseContents()).toEqual(before);
  });

  test("for another business, whose page it is not", async () => {
    const stranger = await newBusiness("stranger@integration-pages.example");
    const refused = await send(stranger, path, path, typed);
    expect([refused.status, wrongField(refused)]).toEqual([403, ["url"]]);
    expect(web.urls()).toEqual([]);
  });

  test("for a page whose domain was removed since the form was opened", async () => {
    const form = { ...standingIn(await open(clerk, path), path), ...typed };
    const lapsed = "UPDATE domains SET status = ? WHERE business_id = ? AND status = ?";
    await env.DB.prepare(lapsed).bind("lapsed", owner.id, "verified").run();
    const refused = await post(clerk, path, form);
    await env.DB.prepare(lapsed).bind("verified", owner.id, "lapsed").run();
    expect([refused.status, wrongField(refused)]).toEqual([403, ["url"]]);
    expect(web.urls()).toEqual([]);
  });

  test("while a payment is due: there is no form, and one that was opened before is refused", async () => {
    const form = { ...standingIn(await open(clerk, path), path), ...typed };
    const setStatus = (status: string) => env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, owner.id).run();
    await setStatus("past_due");
    const page = await open(clerk, path);
    const refused = await post(clerk, path, form);
    await setStatus("active");
    expect(() => standingIn(page, path)).toThrow("no form");
    expect([refused.status, said(refused)]).toEqual([402, expect.stringContaining("Not while a payment is past due.")]);
    expect(web.urls()).toEqual([]);
  });
});

test("sent twice by a member it is the same tag twice, and nothing of it is kept", async () => {
  const form = { ...standingIn(await open(clerk, path), path), ...typed };
  const before = await databaseContents();
  const tagOf = (answer: Answer): string => {
    const [code] = named(parsed(answer).document, "code").filter(({ attribs }) => attribs.id === "tag");
    return code === undefined ? "" : textOf(code);
  };
  const [first, second] = [await post(clerk, path, form), await post(clerk, path, form)];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(tagOf(first)).toContain('data-client-id="pc_live_');
  expect(tagOf(second)).toBe(tagOf(first));
  expect(await databaseContents()).toEqual(before);
  const again = await open(clerk, path);
  expect(named(again.document, "code").some(({ attribs }) => attribs.id === "tag")).toBe(false);
});

test("a page that does not answer, and one without a form, are said", async () => {
  web.serve(url, () => new Response("", { status: 500 }));
  const away = await send(clerk, path, path, typed);
  expect(away.status).toBeGreaterThanOrEqual(400);
  expect(said(away)).toMatch(/Error: .+/);
  web.serve(url, "<!doctype html><html><body><p>Nothing to fill in</p></body></html>");
  const empty = await send(clerk, path, path, typed);
  expect([empty.status, wrongField(empty), said(empty)]).toEqual([400, ["url"], expect.stringContaining("The page holds no form.")]);
});
