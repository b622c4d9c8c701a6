// Tests the audit log in the portal: how it names who made each entry, and the filters by actor, type and record.
import { beforeAll, describe, expect, test } from "vitest";
import { clearCodes, signIn } from "../support/people.ts";
import { callPortal, signUpBusiness } from "../support/portal.ts";
import { openPage, submitForm, type Member } from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { issueToNewPerson, buildJsonPost } from "../support/withdrawal.ts";
import { call, world } from "../support/world.ts";
import { findByTagName, extractText, extractWords } from "./page.ts";

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

const listRows = async (member: Member, query = ""): Promise<readonly (readonly string[])[]> => {
  const { document } = await openPage(member, `/portal/audit${query}`);
  const [table] = findByTagName(document, "table");
  return table === undefined
    ? []
    : findByTagName([table], "tr")
        .slice(1)
        .map((row) => [...findByTagName([row], "th"), ...findByTagName([row], "td")].map((cell) => extractText(cell).trim()));
};

describe("the audit log", () => {
  test("says what happened and who did it in words", async () => {
    const rows = await listRows(acme, `?id=${certId}`);
    expect([...new Set(rows.map(([what, actor]) => `${what}: ${actor}`))]).toEqual([
      `Person’s details viewed: ${world.ownerEmail} (owner)`,
      "Consent withdrawn: The person, using their withdrawal link",
      "Certificate issued: Tag on www.example.com",
    ]);
  });

  test("finds a record by its ID as people type it", async () => {
    expect(await listRows(acme, `?id=${certId.toUpperCase()}`)).toEqual(await listRows(acme, `?id=${certId}`));
    expect(await listRows(acme, "?id=cc_00000000000000000000000000")).toEqual([]);
  });

  test("lists the entries of one type", async () => {
    const rows = await listRows(acme, "?type=certificate.revoked");
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map(([what]) => what))).toEqual(new Set(["Consent withdrawn"]));
  });

  test("lists the entries of one member, of tags, and of people", async () => {
    const { document } = await openPage(acme, "/portal/audit");
    const options = findByTagName(document, "option").map((option) => [extractText(option), option.attribs.value] as const);
    const ownValue = options.find(([text]) => text.startsWith(world.ownerEmail))?.[1] ?? "";
    const listActors = async (actor: string): Promise<readonly (string | undefined)[]> => [
      ...new Set((await listRows(acme, `?id=${certId}&actor=${actor}`)).map(([, actor]) => actor)),
    ];
    expect(await listActors(ownValue)).toEqual([`${world.ownerEmail} (owner)`]);
    expect(await listActors("client")).toEqual(["Tag on www.example.com"]);
    expect(await listActors("person")).toEqual(["The person, using their withdrawal link"]);
    expect(await listActors("service")).toEqual([]);
  });

  test("keeps the filter on later pages and reaches every entry once", async () => {
    const owner = await signUpBusiness("owner@audit-pages.example");
    const createdCount = 60;
    for (let at = 0; at < createdCount; at += 1) await callPortal(owner, "PATCH", "", { legal_name: `Audit Pages ${at} Inc` });
    await waitUntilSettled();
    const seqs: string[] = [];
    let path: string | undefined = "/portal/audit?type=business.profile_changed";
    while (path !== undefined) {
      const page = await openPage(owner, path);
      expect(path).toContain("type=business.profile_changed");
      seqs.push(
        ...findByTagName(page.document, "tr")
          .slice(1)
          .map((row) => extractText(findByTagName([row], "td").at(-1) as never).trim()),
      );
      path = findByTagName(page.document, "a").find(({ attribs }) => attribs.rel === "next")?.attribs.href;
    }
    expect(seqs).toHaveLength(createdCount);
    expect(new Set(seqs).size).toBe(createdCount);
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
    const [table] = findByTagName(document, "table");
    const paths = [...new Set(findByTagName([table as never], "a").map(({ attribs }) => attribs.href as string))];
    expect(paths.toSorted()).toEqual(["/portal/domains", `/portal/domains/${domain.body.data.id}`, "/portal/webhooks"]);
    for (const path of paths) expect((await openPage(owner, path)).status).toBe(200);
    expect(extractWords(document)).toContain("kept-links.com");
  });

  test("shows nothing of another business, regardless of the filter", async () => {
    const other = await signIn(world.otherOwnerEmail);
    expect(await listRows(other, `?id=${certId}`)).toEqual([]);
    expect(extractWords((await openPage(other, `/portal/audit?id=${certId}`)).document)).toContain("No results");
  });

  test("ignores values that are not filters", async () => {
    expect(await listRows(acme, "?actor=somebody&type=nothing&before=x")).toEqual(await listRows(acme));
  });
});
