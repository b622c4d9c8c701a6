// A person's own pages about consents that they gave on forms: found by the address they sign in with, read, and withdrawn.
import { describe, expect, test } from "vitest";
import type { Database } from "../../storage/database.ts";
import type { Platform } from "../../workers/services.ts";
import { browsing, hiddenFields, to, wordsOf, type Browsing } from "../support/app-pages.ts";
import { answerOf, outage, platform } from "../support/scenarios.ts";
import { grant, person, read, type SignedPerson } from "../support/sharing.ts";
import { held } from "../support/withdrawing.ts";
import { get, world, worldInSecondHome } from "../support/world.ts";

const browserOf = ({ headers }: SignedPerson, ...more: [Parameters<typeof browsing>[1]?, Parameters<typeof browsing>[2]?]): Browsing =>
  browsing(headers.cookie, ...more);
const of = (by: SignedPerson, more: object = {}) => ({ fields: { email: by.email, first_name: "Pat" }, ...more });
const status = async (certId: string): Promise<string> => (await get(`/v1/certs/${certId}/verify`)).body.data.status;
const pathOf = (certId: string): string => `/app/certificates/${certId}`;

describe("consents given on forms", () => {
  test("stand in the list of consents by business, beside what is shared, and apart once they are withdrawn", async () => {
    const by = await person();
    const { share } = await grant(by);
    await held(of(by));
    const second = await held(of(by, { purpose: "roof survey" }));
    await held(of(by), worldInSecondHome.acme);
    const browser = browserOf(by);
    const list = wordsOf(await browser.open("/app"));
    expect(list).toContain("Current (4)");
    expect(list).toContain("2 consents given on forms");
    expect(list).toContain("1 consent given on a form");
    expect(list).toContain("Share of e-mail and phone");
    const withAcme = await browser.open(`/app/with/${world.acme.id}`);
    expect(wordsOf(withAcme)).toContain("Everything with Acme Solar LLC");
    expect(wordsOf(withAcme)).toContain("roof survey");
    expect(withAcme.text).toContain(pathOf(second.certId));
    expect(withAcme.text).toContain(`/app/shares/${share.id}`);
    await by.post("/v1/me/certificates/withdraw", { scope: "certificate", cert_id: second.certId });
    expect(wordsOf(await browser.open("/app"))).toContain("Current (3)");
    const ended = wordsOf(await browser.open("/app?view=ended"));
    expect(ended).toContain("1 consent on a form, withdrawn");
    expect(ended).toContain("Ended (1)");
    expect(wordsOf(await browser.open(`/app/with/${world.acme.id}`))).toContain("Withdrawn: contact must end by");
  });

  test("of somebody who shares nothing are listed all the same; of nobody there is nothing", async () => {
    const by = await person({});
    expect(wordsOf(await browserOf(by).open("/app"))).toContain("Nobody holds your details through svc.");
    expect((await browserOf(by).open(`/app/with/${world.acme.id}`)).status).toBe(404);
    await held(of(by));
    expect(wordsOf(await browserOf(by).open("/app"))).toContain("1 consent given on a form");
    expect((await browserOf(by).open(`/app/with/${world.acme.id}`)).status).toBe(200);
  });

  test("a home that does not answer is said, and the others are shown", async () => {
    const by = await person({});
    await held(of(by));
    const away = (outage().homes as Platform["homes"]).of("") as Database;
    const all = () => platform.homes.all().map(([home, db]) => [home, home === "01" ? away : db] as const);
    const answer = await answerOf({ homes: { ...platform.homes, all } }, "/app", { headers: by.headers });
    expect(answer.text).toContain("One of our stores does not answer just now");
    expect(answer.text).toContain("1 consent given on a form");
  });

  test("are read whole, masked like the public page, by the person they name and nobody else", async () => {
    const [by, eve] = [await person({}), await person({})];
    const { certId } = await held(
      of(by, { disclosure: "I agree that Acme may <b>call</b> me.", entities: ["Acme Solar LLC", "Sunny Roofs"] }),
    );
    const sandbox = await held(of(by, { client_id: world.acme.clients.sandbox }));
    const page = await browserOf(by).open(pathOf(certId));
    const words = wordsOf(page);
    for (const told of ["Consent given to Acme Solar LLC", "Active", "Sunny Roofs", "Was this not you?", "Withdraw consent"])
      expect(words).toContain(told);
    expect(page.text).toContain(`/c/${certId}"`);
    expect(page.text.split("<main")[1]).not.toContain(by.email);
    for (const path of ["", "/withdraw"]) {
      const theirs = await browserOf(eve).open(`${pathOf(certId)}${path}`);
      expect([theirs.status, wordsOf(theirs).includes("There is no consent here")]).toEqual([404, true]);
    }
    expect((await browserOf(by).open(pathOf(sandbox.certId))).status).toBe(404);
    expect((await browserOf(by).open(pathOf("cc_none"))).status).toBe(404);
  });
});

describe("withdrawing them", () => {
  test("one alone, in two steps and without a code; Back and a second press find it done", async () => {
    const by = await person({});
    const { certId } = await held(of(by));
    const browser = browserOf(by);
    const path = pathOf(certId);
    const ask = await browser.open(`${path}/withdraw`);
    expect(wordsOf(ask)).toContain("They are told at once and must stop contacting you by the end of");
    expect(wordsOf(ask)).not.toContain("everything I gave");
    expect(ask.text.indexOf("Keep it")).toBeLessThan(ask.text.indexOf('class="primary"'));
    expect(await status(certId)).toBe("active");
    expect(to(await browser.send(ask, `${path}/withdraw`))).toBe(`303 ${path}`);
    const done = wordsOf(await browser.open(path));
    expect(done).toContain("Your consent is withdrawn. Contact must end by");
    expect(done).toContain("Nobody any more.");
    expect(await status(certId)).toBe("revoked");
    expect(to(await browser.send(ask, `${path}/withdraw`))).toBe(`303 ${path}`);
    expect(to(await browser.open(`${path}/withdraw`))).toBe(`303 ${path}`);
    expect((await read(`/v1/certs/${certId}`)).body.data.withdrawal).toMatchObject({ method: "email_code", scope: "certificate" });
  });

  test("everything given to the business is offered first, where there is more; this certificate alone can be chosen", async () => {
    const by = await person({});
    const [first, second, third] = [await held(of(by)), await held(of(by)), await held(of(by))];
    const other = await held(of(by), worldInSecondHome.acme);
    const browser = browserOf(by);
    const action = `${pathOf(first.certId)}/withdraw`;
    const ask = await browser.open(action);
    expect(wordsOf(ask)).toContain("everything I gave to Acme Solar LLC (3)");
    expect(hiddenFields(ask, action).scope).toBe("business");
    expect(to(await browser.send(ask, action, { scope: "certificate" }))).toBe(`303 ${pathOf(first.certId)}`);
    expect(await Promise.all([first, second, third].map(({ certId }) => status(certId)))).toEqual(["revoked", "active", "active"]);
    const again = `${pathOf(second.certId)}/withdraw`;
    expect(to(await browser.send(await browser.open(again), again))).toBe(`303 /app/with/${world.acme.id}`);
    expect(wordsOf(await browser.open(`/app/with/${world.acme.id}`))).toContain("2 consents have ended.");
    expect(await Promise.all([second, third, other].map(({ certId }) => status(certId)))).toEqual(["revoked", "revoked", "active"]);
  });

  test("single recipients, by boxes; with none ticked nothing happens", async () => {
    const by = await person({});
    const { certId } = await held(of(by, { entities: ["Acme Solar LLC", "Roof Right", "Sunny Roofs"] }));
    const browser = browserOf(by);
    const action = `${pathOf(certId)}/withdraw-some`;
    const ask = await browser.open(`${pathOf(certId)}/withdraw`);
    const { form } = hiddenFields(ask, action) as { form: string };
    const nothing = await browser.post(action, { form });
    expect([nothing.status, nothing.text.includes("Tick at least one recipient.")]).toEqual([400, true]);
    expect(nothing.text).toMatch(/<title>Error: /);
    expect(to(await browser.post(action, { form, "entity.1": "on" }))).toBe(`303 ${pathOf(certId)}`);
    const page = wordsOf(await browser.open(pathOf(certId)));
    expect(page).toContain("Withdrawn for 1 of 3 recipients");
    expect(page).toMatch(/Withdrawn from: ?Roof Right/);
    const { entities_withdrawn, status: is } = (await get(`/v1/certs/${certId}/verify`)).body.data;
    expect([is, entities_withdrawn.map(({ entity }: { entity: string }) => entity)]).toEqual(["active", ["Roof Right"]]);
  });

  test("together with what is shared, when everything with a business is stopped", async () => {
    const by = await person();
    const { share } = await grant(by);
    const [first, second] = [await held(of(by)), await held(of(by))];
    const browser = browserOf(by);
    const path = `/app/with/${world.acme.id}/stop`;
    const ask = await browser.open(path);
    expect(wordsOf(ask)).toContain("2 consents given on forms are withdrawn.");
    expect(wordsOf(ask)).toContain("Stop all 3");
    expect(to(await browser.send(ask, path))).toBe(`303 /app/with/${world.acme.id}`);
    expect(wordsOf(await browser.open(`/app/with/${world.acme.id}`))).toContain("3 consents have ended. Contact must end by");
    expect((await read(`/v1/shares/${share.id}`)).body.data.status).toBe("revoked");
    expect(await Promise.all([first, second].map(({ certId }) => status(certId)))).toEqual(["revoked", "revoked"]);
    expect(to(await browser.open(path))).toBe(`303 /app/with/${world.acme.id}`);
  });

  test("takes no form from elsewhere, or with the token of another session or form", async () => {
    const [by, eve] = [await person({}), await person({})];
    const [mine, hers] = [await held(of(by, { entities: ["Acme Solar LLC", "Roof Right"] })), await held(of(eve))];
    const browser = browserOf(by);
    const ask = await browser.open(`${pathOf(mine.certId)}/withdraw`);
    for (const path of ["withdraw", "withdraw-some"]) {
      const action = `${pathOf(mine.certId)}/${path}`;
      const fields = { ...hiddenFields(ask, action), "entity.0": "on" };
      const theirs = hiddenFields(await browserOf(eve).open(`${pathOf(hers.certId)}/withdraw`), `${pathOf(hers.certId)}/withdraw`);
      const answers = [
        await browser.post(action, fields, { "sec-fetch-site": "cross-site" }),
        await browser.post(action, { ...fields, form: "" }),
        await browser.post(action, { ...fields, form: theirs.form as string }),
        await browserOf(eve).post(action, fields),
      ];
      expect(answers.map((answer) => answer.status)).toEqual([403, 403, 403, 403]);
    }
    const { status: is, entities_withdrawn: gone = [] } = (await get(`/v1/certs/${mine.certId}/verify`)).body.data;
    expect([is, gone]).toEqual(["active", []]);
  });
});
