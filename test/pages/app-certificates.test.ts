// Tests the app's pages about consents given on forms. They list the consents of the signed-in address, show their details, and let the
// person withdraw them.
import { describe, expect, test } from "vitest";
import type { Database } from "../../storage/database.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { createBrowserSession, parseFormFields, describeRedirect, getPageText, type BrowserSession } from "../support/browser-session.ts";
import { callWith, createOutagePlatform, platform } from "../support/scenarios.ts";
import { grantShare, signInPerson, getWithApiKey, type SignedPerson } from "../support/sharing.ts";
import { issueToNewPerson } from "../support/withdrawal.ts";
import { getWithKey, world, worldInSecondShard } from "../support/world.ts";

const browserOf = (
  { headers }: SignedPerson,
  ...more: [Parameters<typeof createBrowserSession>[1]?, Parameters<typeof createBrowserSession>[2]?]
): BrowserSession => createBrowserSession(headers.cookie, ...more);
const of = (by: SignedPerson, more: object = {}) => ({ fields: { email: by.email, first_name: "Pat" }, ...more });
const status = async (certId: string): Promise<string> => (await getWithKey(`/v1/certs/${certId}/verify`)).body.data.status;
const pathOf = (certId: string): string => `/app/certificates/${certId}`;

describe("consents given on forms", () => {
  test("are listed by business next to shares, and withdrawn ones separately", async () => {
    const by = await signInPerson();
    const { share } = await grantShare(by);
    await issueToNewPerson(of(by));
    const second = await issueToNewPerson(of(by, { purpose: "roof survey" }));
    await issueToNewPerson(of(by), worldInSecondShard.acme);
    const browser = browserOf(by);
    const list = getPageText(await browser.open("/app"));
    expect(list).toContain("Current 4");
    expect(list).toContain("2 consents given on forms");
    expect(list).toContain("1 consent given on a form");
    expect(list).toContain("Email and phone");
    const withAcme = await browser.open(`/app/with/${world.acme.id}`);
    expect(getPageText(withAcme)).toContain("Your consents with Acme Solar LLC");
    expect(getPageText(withAcme)).toContain("roof survey");
    expect(withAcme.text).toContain(pathOf(second.certId));
    expect(withAcme.text).toContain(`/app/shares/${share.id}`);
    await by.post("/v1/me/certificates/withdraw", { scope: "certificate", cert_id: second.certId });
    expect(getPageText(await browser.open("/app"))).toContain("Current 3");
    const ended = getPageText(await browser.open("/app?view=ended"));
    expect(ended).toContain("1 consent given on a form, now withdrawn");
    expect(ended).toContain("Ended 1");
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("The business must stop contacting you by the end of");
  });

  test("are listed for a person without shares; a person without consents gets an empty list", async () => {
    const by = await signInPerson({});
    expect(getPageText(await browserOf(by).open("/app"))).toContain("No consents yet");
    expect((await browserOf(by).open(`/app/with/${world.acme.id}`)).status).toBe(404);
    await issueToNewPerson(of(by));
    expect(getPageText(await browserOf(by).open("/app"))).toContain("1 consent given on a form");
    expect((await browserOf(by).open(`/app/with/${world.acme.id}`)).status).toBe(200);
  });

  test("shows the other businesses and a note when a shard is unavailable", async () => {
    const by = await signInPerson({});
    await issueToNewPerson(of(by));
    const away = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const all = () => platform.shards.all().map(([shardId, db]) => [shardId, shardId === "01" ? away : db] as const);
    const answer = await callWith({ shards: { ...platform.shards, all } }, "/app", { headers: by.headers });
    expect(answer.text).toContain("Some consents may be missing");
    expect(answer.text).toContain("1 consent given on a form");
  });

  test("shows a masked certificate to the person it names and to no one else", async () => {
    const [by, eve] = [await signInPerson({}), await signInPerson({})];
    const { certId } = await issueToNewPerson(
      of(by, { disclosure: "I agree that Acme may <b>call</b> me.", entities: ["Acme Solar LLC", "Sunny Roofs"] }),
    );
    const sandbox = await issueToNewPerson(of(by, { client_id: world.acme.clients.sandbox }));
    const page = await browserOf(by).open(pathOf(certId));
    const words = getPageText(page);
    for (const text of ["Consent given to Acme Solar LLC", "Active", "Sunny Roofs", "See a consent you didn’t give?", "Withdraw consent"])
      expect(words).toContain(text);
    expect(page.text).toContain(`/c/${certId}"`);
    expect(page.text.split("<main")[1]?.split("</main>")[0]).not.toContain(by.email);
    for (const path of ["", "/withdraw"]) {
      const theirs = await browserOf(eve).open(`${pathOf(certId)}${path}`);
      expect([theirs.status, getPageText(theirs).includes("Consent not found")]).toEqual([404, true]);
    }
    expect((await browserOf(by).open(pathOf(sandbox.certId))).status).toBe(404);
    expect((await browserOf(by).open(pathOf("cc_none"))).status).toBe(404);
  });
});

describe("withdrawing consents given on forms", () => {
  test("withdraws one certificate after a confirmation page, without a code, and shows the result when repeated", async () => {
    const by = await signInPerson({});
    const { certId } = await issueToNewPerson(of(by));
    const browser = browserOf(by);
    const path = pathOf(certId);
    const ask = await browser.open(`${path}/withdraw`);
    expect(getPageText(ask)).toContain("They must stop contacting you by the end of");
    expect(getPageText(ask)).not.toContain("All consent you gave to");
    expect(ask.text.indexOf("Keep consent")).toBeLessThan(ask.text.indexOf('class="btn primary"'));
    expect(await status(certId)).toBe("active");
    expect(describeRedirect(await browser.send(ask, `${path}/withdraw`))).toBe(`303 ${path}`);
    const done = getPageText(await browser.open(path));
    expect(done).toContain("You withdrew consent. The recipients must stop contacting you by the end of");
    expect(done).toContain("No one.");
    expect(await status(certId)).toBe("revoked");
    expect(describeRedirect(await browser.send(ask, `${path}/withdraw`))).toBe(`303 ${path}`);
    expect(describeRedirect(await browser.open(`${path}/withdraw`))).toBe(`303 ${path}`);
    expect((await getWithApiKey(`/v1/certs/${certId}`)).body.data.withdrawal).toMatchObject({ method: "email_code", scope: "certificate" });
  });

  test("offers to withdraw everything given to the business, or only this certificate", async () => {
    const by = await signInPerson({});
    const [first, second, third] = [await issueToNewPerson(of(by)), await issueToNewPerson(of(by)), await issueToNewPerson(of(by))];
    const other = await issueToNewPerson(of(by), worldInSecondShard.acme);
    const browser = browserOf(by);
    const action = `${pathOf(first.certId)}/withdraw`;
    const ask = await browser.open(action);
    expect(getPageText(ask)).toContain("All consent you gave to Acme Solar LLC (3)");
    expect(parseFormFields(ask, action).scope).toBe("business");
    expect(describeRedirect(await browser.send(ask, action, { scope: "certificate" }))).toBe(`303 ${pathOf(first.certId)}`);
    expect(await Promise.all([first, second, third].map(({ certId }) => status(certId)))).toEqual(["revoked", "active", "active"]);
    const again = `${pathOf(second.certId)}/withdraw`;
    expect(describeRedirect(await browser.send(await browser.open(again), again))).toBe(`303 /app/with/${world.acme.id}`);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("Your 2 consents have ended.");
    expect(await Promise.all([second, third, other].map(({ certId }) => status(certId)))).toEqual(["revoked", "revoked", "active"]);
  });

  test("withdraws consent for selected recipients, and for none when none is selected", async () => {
    const by = await signInPerson({});
    const { certId } = await issueToNewPerson(of(by, { entities: ["Acme Solar LLC", "Roof Right", "Sunny Roofs"] }));
    const browser = browserOf(by);
    const action = `${pathOf(certId)}/withdraw-some`;
    const ask = await browser.open(`${pathOf(certId)}/withdraw`);
    const { form } = parseFormFields(ask, action) as { form: string };
    const nothing = await browser.post(action, { form });
    expect([nothing.status, nothing.text.includes("Choose at least one recipient.")]).toEqual([400, true]);
    expect(nothing.text).toMatch(/<title>Error: /);
    expect(describeRedirect(await browser.post(action, { form, "entity.1": "on" }))).toBe(`303 ${pathOf(certId)}`);
    const page = getPageText(await browser.open(pathOf(certId)));
    expect(page).toContain("Withdrawn for 1 of 3 recipients");
    expect(page).toMatch(/Withdrawn for ?Roof Right/);
    const { entities_withdrawn, status: is } = (await getWithKey(`/v1/certs/${certId}/verify`)).body.data;
    expect([is, entities_withdrawn.map(({ entity }: { entity: string }) => entity)]).toEqual(["active", ["Roof Right"]]);
  });

  test("says that one consent ended when the person stops everything and has only one", async () => {
    const by = await signInPerson();
    await issueToNewPerson(of(by));
    const browser = browserOf(by);
    const path = `/app/with/${world.acme.id}/stop`;
    const ask = await browser.open(path);
    expect(getPageText(ask)).toContain("This consent will end:");
    expect(describeRedirect(await browser.send(ask, path))).toBe(`303 /app/with/${world.acme.id}`);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("Your consent has ended.");
  });

  test("withdraws certificates together with shares when everything with a business is stopped", async () => {
    const by = await signInPerson();
    const { share } = await grantShare(by);
    const [first, second] = [await issueToNewPerson(of(by)), await issueToNewPerson(of(by))];
    const browser = browserOf(by);
    const path = `/app/with/${world.acme.id}/stop`;
    const ask = await browser.open(path);
    expect(getPageText(ask)).toContain("2 consents given on forms");
    expect(getPageText(ask)).toContain("These 3 consents will end:");
    expect(describeRedirect(await browser.send(ask, path))).toBe(`303 /app/with/${world.acme.id}`);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain(
      "Your 3 consents have ended. The recipients must stop contacting you by the end of",
    );
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.status).toBe("revoked");
    expect(await Promise.all([first, second].map(({ certId }) => status(certId)))).toEqual(["revoked", "revoked"]);
    expect(describeRedirect(await browser.open(path))).toBe(`303 /app/with/${world.acme.id}`);
  });

  test("refuses a form from another site or with the token of another session or form", async () => {
    const [by, eve] = [await signInPerson({}), await signInPerson({})];
    const [mine, hers] = [await issueToNewPerson(of(by, { entities: ["Acme Solar LLC", "Roof Right"] })), await issueToNewPerson(of(eve))];
    const browser = browserOf(by);
    const ask = await browser.open(`${pathOf(mine.certId)}/withdraw`);
    for (const path of ["withdraw", "withdraw-some"]) {
      const action = `${pathOf(mine.certId)}/${path}`;
      const fields = { ...parseFormFields(ask, action), "entity.0": "on" };
      const theirs = parseFormFields(await browserOf(eve).open(`${pathOf(hers.certId)}/withdraw`), `${pathOf(hers.certId)}/withdraw`);
      const answers = [
        await browser.post(action, fields, { "sec-fetch-site": "cross-site" }),
        await browser.post(action, { ...fields, form: "" }),
        await browser.post(action, { ...fields, form: theirs.form as string }),
        await browserOf(eve).post(action, fields),
      ];
      expect(answers.map((answer) => answer.status)).toEqual([403, 403, 403, 403]);
    }
    const { status: is, entities_withdrawn: gone = [] } = (await getWithKey(`/v1/certs/${mine.certId}/verify`)).body.data;
    expect([is, gone]).toEqual(["active", []]);
  });
});
