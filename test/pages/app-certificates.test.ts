// Tests the app's pages about consents given on forms. They list the consents given with the signed-in person's email
// address, show their details, and let the person withdraw them.
import { describe, expect, test } from "vitest";
import type { Database } from "../../storage/database.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { createBrowserSession, parseFormFields, describeRedirect, getPageText, type BrowserSession } from "../support/browser-session.ts";
import { callWith, createOutagePlatform, platform } from "../support/scenarios.ts";
import { grantShare, signInPerson, getWithApiKey, type SignedPerson } from "../support/sharing.ts";
import { issueToNewPerson } from "../support/withdrawal.ts";
import { getWithKey, world, worldInSecondShard } from "../support/world.ts";

const openBrowserFor = (
  { headers }: SignedPerson,
  ...more: [Parameters<typeof createBrowserSession>[1]?, Parameters<typeof createBrowserSession>[2]?]
): BrowserSession => createBrowserSession(headers.cookie, ...more);
const buildCertificateInput = (person: SignedPerson, more: object = {}) => ({
  fields: { email: person.email, first_name: "Pat" },
  ...more,
});
const readStatus = async (certId: string): Promise<string> => (await getWithKey(`/v1/certs/${certId}/verify`)).body.data.status;
const buildCertificatePath = (certId: string): string => `/app/certificates/${certId}`;

describe("consents given on forms", () => {
  test("are listed by business next to shares, and withdrawn ones separately", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person);
    await issueToNewPerson(buildCertificateInput(person));
    const second = await issueToNewPerson(buildCertificateInput(person, { purpose: "roof survey" }));
    await issueToNewPerson(buildCertificateInput(person), worldInSecondShard.acme);
    const browser = openBrowserFor(person);
    const list = getPageText(await browser.open("/app"));
    expect(list).toContain("Current 4");
    expect(list).toContain("2 consents given on forms");
    expect(list).toContain("1 consent given on a form");
    expect(list).toContain("Email and phone");
    const withAcme = await browser.open(`/app/with/${world.acme.id}`);
    expect(getPageText(withAcme)).toContain("Consents given to Acme Solar LLC");
    expect(getPageText(withAcme)).toContain("roof survey");
    expect(withAcme.text).toContain(buildCertificatePath(second.certId));
    expect(withAcme.text).toContain(`/app/shares/${share.id}`);
    await person.post("/v1/me/certificates/withdraw", { scope: "certificate", cert_id: second.certId });
    expect(getPageText(await browser.open("/app"))).toContain("Current 3");
    const ended = getPageText(await browser.open("/app?view=ended"));
    expect(ended).toContain("1 consent given on a form, now withdrawn");
    expect(ended).toContain("Ended 1");
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("The business must stop contacting you by the end of");
  });

  test("include shares in the number of consents that end with one form", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person);
    const [first] = [await issueToNewPerson(buildCertificateInput(person)), await issueToNewPerson(buildCertificateInput(person))];
    const browser = openBrowserFor(person);
    const action = `${buildCertificatePath(first.certId)}/withdraw`;
    const form = await browser.open(action);
    expect(getPageText(form)).toContain("All consent you gave to Acme Solar LLC (3)");
    await browser.send(form, action);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("Your 3 consents have ended.");
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.status).toBe("revoked");
  });

  test("are listed for a person without shares; a person without consents gets an empty list", async () => {
    const person = await signInPerson({});
    expect(getPageText(await openBrowserFor(person).open("/app"))).toContain("No consents yet");
    expect((await openBrowserFor(person).open(`/app/with/${world.acme.id}`)).status).toBe(404);
    await issueToNewPerson(buildCertificateInput(person));
    expect(getPageText(await openBrowserFor(person).open("/app"))).toContain("1 consent given on a form");
    expect((await openBrowserFor(person).open(`/app/with/${world.acme.id}`)).status).toBe(200);
  });

  test("shows the other businesses and a note when a shard is unavailable", async () => {
    const person = await signInPerson({});
    await issueToNewPerson(buildCertificateInput(person));
    const unavailableDatabase = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const listShards = () => platform.shards.all().map(([shardId, db]) => [shardId, shardId === "01" ? unavailableDatabase : db] as const);
    const response = await callWith({ shards: { ...platform.shards, all: listShards } }, "/app", { headers: person.headers });
    expect(response.text).toContain("Some consents may be missing");
    expect(response.text).toContain("1 consent given on a form");
  });

  test("shows a masked certificate to the person it names and to no one else", async () => {
    const [person, eve] = [await signInPerson({}), await signInPerson({})];
    const { certId } = await issueToNewPerson(
      buildCertificateInput(person, { disclosure: "I agree that Acme may <b>call</b> me.", entities: ["Acme Solar LLC", "Sunny Roofs"] }),
    );
    const sandbox = await issueToNewPerson(buildCertificateInput(person, { client_id: world.acme.clients.sandbox }));
    const page = await openBrowserFor(person).open(buildCertificatePath(certId));
    const words = getPageText(page);
    for (const text of ["Consent given to Acme Solar LLC", "Active", "Sunny Roofs", "Didn’t give this consent?", "Withdraw consent"])
      expect(words).toContain(text);
    expect(page.text).toContain(`/c/${certId}"`);
    expect(page.text.split("<main")[1]?.split("</main>")[0]).not.toContain(person.email);
    for (const path of ["", "/withdraw"]) {
      const otherPage = await openBrowserFor(eve).open(`${buildCertificatePath(certId)}${path}`);
      expect([otherPage.status, getPageText(otherPage).includes("Consent not found")]).toEqual([404, true]);
    }
    expect((await openBrowserFor(person).open(buildCertificatePath(sandbox.certId))).status).toBe(404);
    expect((await openBrowserFor(person).open(buildCertificatePath("cc_none"))).status).toBe(404);
  });
});

describe("withdrawing consents given on forms", () => {
  test("withdraws one certificate after a confirmation page, without a code, and shows the result when repeated", async () => {
    const person = await signInPerson({});
    const { certId } = await issueToNewPerson(buildCertificateInput(person));
    const browser = openBrowserFor(person);
    const path = buildCertificatePath(certId);
    const confirmationPage = await browser.open(`${path}/withdraw`);
    expect(getPageText(confirmationPage)).toContain("The recipients must stop contacting you by the end of");
    expect(getPageText(confirmationPage)).not.toContain("All consent you gave to");
    expect(confirmationPage.text.indexOf("Keep consent")).toBeLessThan(confirmationPage.text.indexOf('class="btn primary"'));
    expect(await readStatus(certId)).toBe("active");
    expect(describeRedirect(await browser.send(confirmationPage, `${path}/withdraw`))).toBe(`303 ${path}`);
    const pageText = getPageText(await browser.open(path));
    expect(pageText).toContain("You withdrew consent. The recipients must stop contacting you by the end of");
    expect(pageText).toContain("No one.");
    expect(await readStatus(certId)).toBe("revoked");
    expect(describeRedirect(await browser.send(confirmationPage, `${path}/withdraw`))).toBe(`303 ${path}`);
    expect(describeRedirect(await browser.open(`${path}/withdraw`))).toBe(`303 ${path}`);
    expect((await getWithApiKey(`/v1/certs/${certId}`)).body.data.withdrawal).toMatchObject({ method: "email_code", scope: "certificate" });
  });

  test("offers to withdraw everything given to the business, or only this certificate", async () => {
    const person = await signInPerson({});
    const [first, second, third] = [
      await issueToNewPerson(buildCertificateInput(person)),
      await issueToNewPerson(buildCertificateInput(person)),
      await issueToNewPerson(buildCertificateInput(person)),
    ];
    const other = await issueToNewPerson(buildCertificateInput(person), worldInSecondShard.acme);
    const browser = openBrowserFor(person);
    const action = `${buildCertificatePath(first.certId)}/withdraw`;
    const confirmationPage = await browser.open(action);
    expect(getPageText(confirmationPage)).toContain("All consent you gave to Acme Solar LLC (3)");
    expect(parseFormFields(confirmationPage, action).scope).toBe("business");
    expect(describeRedirect(await browser.send(confirmationPage, action, { scope: "certificate" }))).toBe(
      `303 ${buildCertificatePath(first.certId)}`,
    );
    expect(await Promise.all([first, second, third].map(({ certId }) => readStatus(certId)))).toEqual(["revoked", "active", "active"]);
    const otherWithdrawPath = `${buildCertificatePath(second.certId)}/withdraw`;
    expect(describeRedirect(await browser.send(await browser.open(otherWithdrawPath), otherWithdrawPath))).toBe(
      `303 /app/with/${world.acme.id}`,
    );
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("Your 2 consents have ended.");
    expect(await Promise.all([second, third, other].map(({ certId }) => readStatus(certId)))).toEqual(["revoked", "revoked", "active"]);
  });

  test("offers to end the shares with the business too, even if there is only one certificate", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person);
    const { certId } = await issueToNewPerson(buildCertificateInput(person));
    const browser = openBrowserFor(person);
    const action = `${buildCertificatePath(certId)}/withdraw`;
    const confirmationPage = await browser.open(action);
    expect(getPageText(confirmationPage)).toContain("All consent you gave to Acme Solar LLC (2)");
    await browser.send(confirmationPage, action);
    expect(await readStatus(certId)).toBe("revoked");
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.status).toBe("revoked");
  });

  test("withdraws consent for selected recipients, and for none when none is selected", async () => {
    const person = await signInPerson({});
    const { certId } = await issueToNewPerson(buildCertificateInput(person, { entities: ["Acme Solar LLC", "Roof Right", "Sunny Roofs"] }));
    const browser = openBrowserFor(person);
    const action = `${buildCertificatePath(certId)}/withdraw-some`;
    const confirmationPage = await browser.open(`${buildCertificatePath(certId)}/withdraw`);
    const { form } = parseFormFields(confirmationPage, action) as { form: string };
    const nothing = await browser.post(action, { form });
    expect([nothing.status, nothing.text.includes("Choose at least one recipient.")]).toEqual([400, true]);
    expect(nothing.text).toMatch(/<title>Error: /);
    expect(describeRedirect(await browser.post(action, { form, "entity.1": "on" }))).toBe(`303 ${buildCertificatePath(certId)}`);
    const page = getPageText(await browser.open(buildCertificatePath(certId)));
    expect(page).toContain("Withdrawn for 1 of 3 recipients");
    expect(page).toMatch(/Withdrawn for ?Roof Right/);
    const { entities_withdrawn, status: currentStatus } = (await getWithKey(`/v1/certs/${certId}/verify`)).body.data;
    expect([currentStatus, entities_withdrawn.map(({ entity }: { entity: string }) => entity)]).toEqual(["active", ["Roof Right"]]);
  });

  test("says that one consent ended when the person stops everything and has only one", async () => {
    const person = await signInPerson();
    await issueToNewPerson(buildCertificateInput(person));
    const browser = openBrowserFor(person);
    const path = `/app/with/${world.acme.id}/stop`;
    const confirmationPage = await browser.open(path);
    expect(getPageText(confirmationPage)).toContain("This consent will end:");
    expect(describeRedirect(await browser.send(confirmationPage, path))).toBe(`303 /app/with/${world.acme.id}`);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("Your consent has ended.");
  });

  test("withdraws certificates together with shares when everything with a business is stopped", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person);
    const [first, second] = [await issueToNewPerson(buildCertificateInput(person)), await issueToNewPerson(buildCertificateInput(person))];
    const browser = openBrowserFor(person);
    const path = `/app/with/${world.acme.id}/stop`;
    const confirmationPage = await browser.open(path);
    expect(getPageText(confirmationPage)).toContain("2 consents given on forms");
    expect(getPageText(confirmationPage)).toContain("These 3 consents will end:");
    expect(describeRedirect(await browser.send(confirmationPage, path))).toBe(`303 /app/with/${world.acme.id}`);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain(
      "Your 3 consents have ended. The recipients must stop contacting you by the end of",
    );
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.status).toBe("revoked");
    expect(await Promise.all([first, second].map(({ certId }) => readStatus(certId)))).toEqual(["revoked", "revoked"]);
    expect(describeRedirect(await browser.open(path))).toBe(`303 /app/with/${world.acme.id}`);
  });

  test("refuses a form from another site or with the token of another session or form", async () => {
    const [person, eve] = [await signInPerson({}), await signInPerson({})];
    const [issued, hers] = [
      await issueToNewPerson(buildCertificateInput(person, { entities: ["Acme Solar LLC", "Roof Right"] })),
      await issueToNewPerson(buildCertificateInput(eve)),
    ];
    const browser = openBrowserFor(person);
    const confirmationPage = await browser.open(`${buildCertificatePath(issued.certId)}/withdraw`);
    for (const path of ["withdraw", "withdraw-some"]) {
      const action = `${buildCertificatePath(issued.certId)}/${path}`;
      const fields = { ...parseFormFields(confirmationPage, action), "entity.0": "on" };
      const otherFields = parseFormFields(
        await openBrowserFor(eve).open(`${buildCertificatePath(hers.certId)}/withdraw`),
        `${buildCertificatePath(hers.certId)}/withdraw`,
      );
      const responses = [
        await browser.post(action, fields, { "sec-fetch-site": "cross-site" }),
        await browser.post(action, { ...fields, form: "" }),
        await browser.post(action, { ...fields, form: otherFields.form as string }),
        await openBrowserFor(eve).post(action, fields),
      ];
      expect(responses.map((response) => response.status)).toEqual([403, 403, 403, 403]);
    }
    const { status: currentStatus, entities_withdrawn: gone = [] } = (await getWithKey(`/v1/certs/${issued.certId}/verify`)).body.data;
    expect([currentStatus, gone]).toEqual(["active", []]);
  });
});
