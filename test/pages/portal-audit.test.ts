// Tests the audit log in the portal: how it names who made each entry, and the filters by actor, type and record.
import { beforeAll, describe, expect, test } from "vitest";
import { clearCodes, signIn } from "../support/people.ts";
import { callPortal, signUpBusiness } from "../support/portal.ts";
import { openPage, submitForm, type Member } from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { issueToNewPerson, buildJsonPost } from "../support/withdrawal.ts";
import { call, world } from "../support/world.ts";
import { named, textOf, words } from "./page.ts";

let acme: Member;
let certId: string;

beforeAll(async () => {
  await clearCodes();
  acme = await signIn(world.ownerEmail);
  const issued = await issueToNewPerson();
  certId = issued.certId;
  await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken }));
  await submitForm(acme, `/portal/certificates/${certId}`, `/portal/certificates/${certId}/reveal`);
  await waitUntilSettled();
});

const rowsOf = async (who: Member, query = ""): Promise<readonly (readonly string[])[]> => {
  const { document } = await openPage(who, `/portal/audit${query}`);
  const [table] = named(document, "table");
  return table === undefined
    ? []
    : named([table], "tr")
        .slice(1)
        .map((row) => [...named([row], "th"), ...named([row], "td")].map((cell) => textOf(cell).trim()));
};

describe("the audit log", () => {
  test("says what happened and who did it in words", async () => {
    const rows = await rowsOf(acme, `?id=${certId}`);
    expect([...new Set(rows.map(([what, who]) => `${what}: ${who}`))]).toEqual([
      `Person’s details viewed: ${world.ownerEmail} (owner)`,
      "Consent withdrawn: The person, using their withdrawal link",
      "Certificate issued: Page script on www.example.com",
    ]);
  });

  test("finds a record by its ID as people type it", async () => {
    expect(await rowsOf(acme, `?id=${certId.toUpperCase()}`)).toEqual(await rowsOf(acme, `?id=${certId}`));
    expect(await rowsOf(acme, "?id=cc_00000000000000000000000000")).toEqual([]);
  });

  test("lists the entries of one type", async () => {
    const rows = await rowsOf(acme, "?type=certificate.revoked");
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map(([what]) => what))).toEqual(new Set(["Consent withdrawn"]));
  });

  test("lists the entries of one member, of page scripts, and of people", async () => {
    const { document } = await openPage(acme, "/portal/audit");
    const options = named(document, "option").map((option) => [textOf(option), option.attribs.value] as const);
    const ownValue = options.find(([text]) => text.startsWith(world.ownerEmail))?.[1] ?? "";
    const actorsOf = async (actor: string): Promise<readonly (string | undefined)[]> => [
      ...new Set((await rowsOf(acme, `?id=${certId}&actor=${actor}`)).map(([, who]) => who)),
    ];
    expect(await actorsOf(ownValue)).toEqual([`${world.ownerEmail} (owner)`]);
    expect(await actorsOf("client")).toEqual(["Page script on www.example.com"]);
    expect(await actorsOf("person")).toEqual(["The person, using their withdrawal link"]);
    expect(await actorsOf("service")).toEqual([]);
  });

  test("keeps the filter on later pages and reaches every entry once", async () => {
    const owner = await signUpBusiness("owner@audit-pages.example");
    const made = 60;
    for (let at = 0; at < made; at += 1) await callPortal(owner, "PATCH", "", { legal_name: `Audit Pages ${at} Inc` });
    await waitUntilSettled();
    const seqs: string[] = [];
    let path: string | undefined = "/portal/audit?type=business.profile_changed";
    while (path !== undefined) {
      const page = await openPage(owner, path);
      expect(path).toContain("type=business.profile_changed");
      seqs.push(
        ...named(page.document, "tr")
          .slice(1)
          .map((row) => textOf(named([row], "td").at(-1) as never).trim()),
      );
      path = named(page.document, "a").find(({ attribs }) => attribs.rel === "next")?.attribs.href;
    }
    expect(seqs).toHaveLength(made);
    expect(new Set(seqs).size).toBe(made);
  });

  test("links only to pages that exist after an endpoint and a domain were removed", async () => {
    const owner = await signUpBusiness("owner@audit-links.example");
    const domain = await callPortal(owner, "POST", "/domains", { domain: "kept-links.com" });
    const removed = await callPortal(owner, "POST", "/domains", { domain: "removed-links.com" });
    await callPortal(owner, "DELETE", `/domains/${removed.body.data.id}`);
    const webhook = await call("/v1/webhooks", buildJsonPost({ url: "https://hooks.example.com/links" }, { cookie: owner.cookie }));
    await call(`/v1/webhooks/${webhook.body.data.id}`, { method: "DELETE", headers: { cookie: owner.cookie } });
    await waitUntilSettled();
    const { document } = await openPage(owner, "/portal/audit");
    const [table] = named(document, "table");
    const paths = [...new Set(named([table as never], "a").map(({ attribs }) => attribs.href as string))];
    expect(paths.toSorted()).toEqual(["/portal/domains", `/portal/domains/${domain.body.data.id}`, "/portal/webhooks"]);
    for (const path of paths) expect((await openPage(owner, path)).status).toBe(200);
    expect(words(document)).toContain("kept-links.com");
  });

  test("shows nothing of another business, regardless of the filter", async () => {
    const other = await signIn(world.otherOwnerEmail);
    expect(await rowsOf(other, `?id=${certId}`)).toEqual([]);
    expect(words((await openPage(other, `/portal/audit?id=${certId}`)).document)).toContain("No results");
  });

  test("ignores values that are not filters", async () => {
    expect(await rowsOf(acme, "?actor=somebody&type=nothing&before=x")).toEqual(await rowsOf(acme));
  });
});
