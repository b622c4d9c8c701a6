// Tests the portal's lists and the links between them: confirmed withdrawals, shares by status, and the certificates of a domain.
import { env } from "cloudflare:workers";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { firstShard, generateId } from "../../core/ids.ts";
import { dayMs } from "../../core/time.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { eraseCertificate } from "../support/erasure.ts";
import { clearCodes, signIn } from "../support/people.ts";
import { describeRedirect, openPage, submitForm, type Member } from "../support/portal-pages.ts";
import { grantShare, redeemCode, signInPerson } from "../support/sharing.ts";
import { buildJsonPost, issueToNewPerson } from "../support/withdrawal.ts";
import { call, issueCertificate, world } from "../support/world.ts";
import { extractWords, findByTagName, open, type Element } from "./page.ts";

let acme: Member;
beforeAll(async () => {
  await clearCodes();
  acme = await signIn(world.ownerEmail);
});

const openDocument = async (path: string): Promise<Element[]> => findByTagName((await openPage(acme, path)).document, "body");
const listLinks = (within: Element[]): readonly (readonly [text: string, path: string | undefined])[] =>
  findByTagName(within, "a").map((link) => [extractWords(link), link.attribs.href]);
const findOne = (elements: readonly Element[], matches: (element: Element) => boolean): Element[] => {
  const found = elements.find(matches);
  if (found === undefined) throw new Error("the page lacks this element");
  return [found];
};

test("a confirmed withdrawal is in the list of withdrawn certificates, with the day when contact ended", async () => {
  const { certId, manageToken: token } = await issueToNewPerson();
  expect((await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token }))).status).toBe(200);
  const path = `/portal/deadlines/${certId}`;
  const form = findOne(findByTagName(await openDocument(path), "form"), ({ attribs }) => attribs.action === path);
  expect(listLinks(form)).toEqual([["Cancel", "/portal/deadlines"]]);
  await submitForm(acme, path, path);
  const links = listLinks(await openDocument("/portal/deadlines"));
  expect(links).toContainEqual(["Certificates (withdrawn)", "/portal/certificates?status=revoked"]);
  expect(links).toContainEqual(["Shares (contact ended)", "/portal/shares?status=ceased"]);
  const rows = findByTagName(await openDocument("/portal/certificates?status=revoked"), "tr");
  const row = findOne(rows, (one) => listLinks([one]).some(([, to]) => to === `/portal/certificates/${certId}`));
  expect(extractWords(row)).toMatch(/Withdrawn By the person Contact ended \d+ \w+ \d{4}/);
});

test("a confirmed withdrawal for one recipient is in the list of audit entries that the page links to", async () => {
  const { certId, manageToken: token } = await issueToNewPerson();
  const withdrawal = { token, entities: ["Bright Homes Inc"] };
  expect((await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost(withdrawal))).status).toBe(200);
  const path = `/portal/deadlines/${certId}`;
  await submitForm(acme, path, path);
  await waitUntilSettled();
  const list = listLinks(await openDocument("/portal/deadlines")).find(([text]) => text === "the audit log")?.[1] ?? "none";
  const rows = findByTagName(await openDocument(list), "tr");
  const row = findOne(rows, (one) => listLinks([one]).some(([, to]) => to === `/portal/certificates/${certId}`));
  expect(extractWords(row)).toContain("Confirmed that contact ended for some recipients");
});

test("a withdrawal of a person whose details are erased has a link with text", async () => {
  const { certId, manageToken: token } = await issueToNewPerson();
  expect((await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token }))).status).toBe(200);
  await eraseCertificate(certId);
  expect(listLinks(await openDocument("/portal/deadlines"))).toContainEqual(["Details erased", `/portal/certificates/${certId}`]);
});

test("a page of certificates beyond the end leads to the last page", async () => {
  await issueToNewPerson();
  for (const [path, lastPage] of [
    ["/portal/certificates?page=9999", "/portal/certificates"],
    ["/portal/certificates?website=none.example&page=2", "/portal/certificates?website=none.example"],
  ] as const)
    expect(describeRedirect(await openPage(acme, path))).toBe(`303 ${lastPage}`);
});

test("a day that does not exist does not filter the list of certificates", async () => {
  const countFilters = async (from: string) =>
    findByTagName(await openDocument(`/portal/certificates?from=${from}`), "a").filter(({ attribs }) => attribs.class === "chip").length;
  expect([await countFilters("2026-02-28"), await countFilters("2026-02-30"), await countFilters("2026-13-01")]).toEqual([1, 0, 0]);
});

test("a person without an email address is shown by the phone number", async () => {
  const { certId, manageToken: token } = await issueToNewPerson({ fields: { email: "", phone: "+1 202 555 0123" } });
  expect((await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token }))).status).toBe(200);
  const path = `/portal/certificates/${certId}`;
  for (const list of ["/portal/deadlines", "/portal/certificates"])
    expect([list, listLinks(await openDocument(list))]).toEqual([list, expect.arrayContaining([["***-***-**23", path]])]);
  expect(findByTagName(await openDocument(path), "h1").map(extractWords)).toEqual(["***-***-**23"]);
});

test("a field that a form calls name is shown as Name, in the portal and on the public page", async () => {
  const { certId } = await issueToNewPerson({ fields: { email: "pat@name.example", name: "Pat Doe" } });
  expect(extractWords(await openDocument(`/portal/certificates/${certId}`))).toContain("Name ***");
  expect(extractWords((await open(certId)).document)).toContain("Name ***");
});

test("a certificate says how many entries it lists if only bots have opened its page", async () => {
  const { certId } = await issueToNewPerson();
  const bot = "Mozilla/5.0 (compatible; LinkPreviewBot/1.0; +https://preview.example/bot)";
  await Promise.all(Array.from({ length: 26 }, () => open(certId, { "user-agent": bot })));
  await waitUntilSettled();
  const cards = findByTagName(await openDocument(`/portal/certificates/${certId}`), "section");
  expect(cards.map(extractWords)).toContainEqual(expect.stringMatching(/^Public page views Showing the newest 25 /));
});

test("a certificate counts all views, even those that it does not list", async () => {
  const { certId } = await issueToNewPerson();
  await Promise.all(Array.from({ length: 26 }, () => open(certId)));
  await waitUntilSettled();
  const readPage = async (): Promise<string> => extractWords(await openDocument(`/portal/certificates/${certId}`));
  expect(await readPage()).toContain("26 views. Showing the newest 25");
  await eraseCertificate(certId);
  const erased = await readPage();
  expect(erased).toContain("26 views");
  expect(erased).toContain("This person’s details were erased, so we no longer record who opens the public page.");
});

test("a share shows how to read the person's details while it is active", async () => {
  const giver = await signInPerson();
  const { share } = await grantShare(giver);
  const readPage = async (): Promise<string> => extractWords(await openDocument(`/portal/shares/${share.id}`));
  expect(await readPage()).toContain(`/v1/consumers/${share.id}/current`);
  expect((await giver.post(`/v1/shares/${share.id}/revoke`, {})).status).toBe(200);
  const stopped = await readPage();
  expect(stopped).not.toContain("/current");
  expect(stopped).toContain("This share is no longer active, so you can’t read the person’s details.");
});

test("the tabs of the list of shares have counts", async () => {
  const countShares = async (member = acme): Promise<readonly number[]> => {
    const { document } = await openPage(member, "/portal/shares");
    const tabs = findOne(findByTagName(document, "nav"), ({ attribs }) => attribs.class === "tabs");
    return findByTagName(tabs, "a").map((tab) => Number(/(\d+)$/.exec(extractWords(tab))?.[1]));
  };
  const giver = await signInPerson();
  const granted = await grantShare(giver);
  await redeemCode(granted);
  await grantShare(await signInPerson());
  const [all, active, stopped, ...others] = await countShares();
  expect((await giver.post(`/v1/shares/${granted.share.id}/revoke`, {})).status).toBe(200);
  expect(await countShares()).toEqual([all, Number(active) - 1, Number(stopped) + 1, ...others]);
  const sumStates = ([, ...counts]: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
  expect(sumStates(await countShares())).toBe(all);
  // The sweep has not recorded yet that this share expired.
  await grantShare(await signInPerson(), { duration_days: 1 });
  const beforeEnd = await countShares();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + dayMs });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const afterEnd = await countShares(await signIn(world.ownerEmail));
  expect(afterEnd[1]).toBeLessThan(Number(beforeEnd[1]));
  expect([afterEnd[0], sumStates(afterEnd)]).toEqual([beforeEnd[0], beforeEnd[0]]);
});

test("a domain links to the certificates of its websites, even if the business has more websites than the page lists", async () => {
  await issueCertificate();
  const others = [...Array.from({ length: 120 }, (_, at) => `w${at}.other.example`), "notexample.com", "late.example.com"];
  await env.DB.prepare(
    `INSERT INTO certificate_groups (purpose_id, entity_list_id, origin_domain, business_id, environment)
     SELECT purpose_id, entity_list_id, value, business_id, environment
     FROM (SELECT * FROM certificate_groups WHERE origin_domain = 'www.example.com' LIMIT 1), json_each(?)`,
  )
    .bind(JSON.stringify(others))
    .run();
  const path = listLinks(await openDocument("/portal/domains")).find(([domain]) => domain === "example.com")?.[1] ?? "none";
  const websites = listLinks(await openDocument(path)).filter(([, to]) => to?.startsWith("/portal/certificates?website="));
  expect(websites).toContainEqual(["www.example.com", "/portal/certificates?website=www.example.com"]);
  expect(websites).toContainEqual(["late.example.com", "/portal/certificates?website=late.example.com"]);
  expect(websites.filter(([host]) => !/(?:^|\.)example\.com$/.test(host))).toEqual([]);
  expect(findByTagName(await openDocument("/portal/certificates?website=www.example.com"), "tr").length).toBeGreaterThan(1);
});

test("a CSV export keeps every row that still matches when another one is withdrawn during the export", async () => {
  const purpose = `export ${crypto.randomUUID()}`;
  const { cert_id: id } = await issueCertificate({ purpose, client_id: world.acme.clients.sandbox });
  const row = (await env.DB.prepare("SELECT * FROM certificates WHERE id = ?").bind(id).first()) as Record<string, unknown>;
  const { ord: _, ...values } = row;
  const names = Object.keys(values);
  const insert = env.DB.prepare(`INSERT INTO certificates (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`);
  const copies = Array.from({ length: 510 }, (__, at) => ({
    ...values,
    id: generateId("cc_", firstShard, (count) => crypto.getRandomValues(new Uint8Array(count))),
    issued_at: Number(values.issued_at) - Math.ceil(at / 2), // most rows share their time with another one
  }));
  await env.DB.batch(copies.map((copy) => insert.bind(...(Object.values(copy) as string[]))));
  // The export records itself after it has read its first rows. At that moment, the newest certificate is withdrawn.
  const columns = "cert_id, business_id, environment, withdrawn_at, cease_by, method, scope, receipt, signature, signature_kid";
  await env.DB.exec(
    [
      `CREATE TRIGGER withdrawn_meanwhile AFTER INSERT ON changes BEGIN INSERT INTO withdrawals (${columns})`,
      "SELECT id, business_id, environment, issued_at, issued_at, 'manage_link', 'certificate', '{}', '', ''",
      `FROM certificates WHERE id = '${id}' AND status = 'active'; END`,
    ].join(" "),
  );
  onTestFinished(async () => {
    await env.DB.exec("DROP TRIGGER withdrawn_meanwhile");
    for (const table of ["withdrawals", "certificates"])
      await env.DB.batch(
        [id, ...copies.map((copy) => copy.id)].map((one) =>
          env.DB.prepare(`DELETE FROM ${table} WHERE ${table === "withdrawals" ? "cert_id" : "id"} = ?`).bind(one),
        ),
      );
  });
  const path = `/portal/test/certificates?${new URLSearchParams({ status: "active", purpose })}`;
  const file = await submitForm(acme, path, "/portal/test/certificates/export");
  const exported = file.text
    .trim()
    .split("\r\n")
    .slice(1)
    .map((line) => line.slice(1, 30));
  expect(exported.toSorted()).toEqual([id, ...copies.map((copy) => copy.id)].toSorted());
});
