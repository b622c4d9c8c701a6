// Tests the billing page's counts for this month and for twelve months. Each certificate is counted when it is issued, and only this
// business's live certificates count.
import { expect, test } from "vitest";
import { signIn } from "../support/people.ts";
import { listAuditEntryTypes } from "../support/portal.ts";
import { parseCsvFile, getLastCounts, parseChart, sumColumn, parseTable } from "../support/portal-charts.ts";
import { openPage, getPageText, submitForm, type Member } from "../support/portal-pages.ts";
import { buildJsonPost } from "../support/withdrawal.ts";
import { call, submitConsent, issueCertificate, buildSubmission, world } from "../support/world.ts";

const signInAsOwner = (): Promise<Member> => signIn(world.ownerEmail);
const heading = "Live certificates";

const readUsage = async (member: Member, path = "/portal/billing"): Promise<readonly number[]> => {
  const page = await openPage(member, path);
  const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(Date.now());
  const [, issued, withdrawn] = new RegExp(`${month} so far\\s*([\\d,]+) issued, ([\\d,]+) withdrawn`).exec(getPageText(page)) ?? [];
  const counts = [issued, withdrawn].map((text) => Number(text?.replaceAll(",", "")));
  expect(getLastCounts(page, heading)).toEqual(counts);
  return counts;
};

test("shows no chart before the first live certificate", async () => {
  const page = getPageText(await openPage(await signInAsOwner(), "/portal/billing"));
  expect(page).toContain("Last 12 months 0 issued, 0 withdrawn");
  expect(page).not.toContain("Show as a table");
});

test("counts live certificates issued and withdrawn this month, not test ones or those of others", async () => {
  await issueCertificate();
  const member = await signInAsOwner();
  const [issued = 0, withdrawn = 0] = await readUsage(member);
  const first = await issueCertificate();
  await issueCertificate();
  const otherSubmission = { ...buildSubmission(world.other), page_url: "https://other.example/quote" };
  expect((await submitConsent(otherSubmission, { origin: "https://other.example" })).status).toBe(201);
  const sandbox = { ...world.acme, clients: { ...world.acme.clients, live: world.acme.clients.sandbox } };
  await issueCertificate({}, sandbox);
  expect(await readUsage(member)).toEqual([issued + 2, withdrawn]);
  const token = String(first.manage_url).split("#m=")[1];
  expect((await call(`/v1/certs/${first.cert_id}/opt-out/manage`, buildJsonPost({ token }))).status).toBe(200);
  expect(await readUsage(member)).toEqual([issued + 2, withdrawn + 1]);
  expect(await readUsage(member, "/portal/test/billing")).toEqual([issued + 2, withdrawn + 1]);
});

test("shows twelve months in a chart, and lets a member export exactly the figures shown, which is recorded", async () => {
  await issueCertificate();
  const member = await signIn(world.memberEmail);
  const page = await openPage(member, "/portal/billing");
  const rows = parseTable(page, heading);
  expect(rows).toHaveLength(12);
  const picture = parseChart(page, "certificate_months");
  expect(picture).toEqual({
    titles: [`${heading}: ${sumColumn(rows, 1)} issued`, `${heading}: ${sumColumn(rows, 2)} withdrawn`],
    up: 1,
    down: expect.any(Number),
  });
  const before = (await listAuditEntryTypes(world.acme.id)).length;
  const file = await submitForm(member, "/portal/billing", "/portal/billing/export");
  expect([file.status, file.headers.get("content-type"), file.headers.get("content-disposition")]).toEqual([
    200,
    "text/csv; charset=utf-8",
    'attachment; filename="certificate_months.csv"',
  ]);
  expect(parseCsvFile(file).head).toBe("month,issued,withdrawn");
  expect(parseCsvFile(file).rows.map((row) => row.slice(1))).toEqual(rows.map((row) => row.slice(1)));
  expect(parseCsvFile(file).rows.at(-1)?.[0]).toBe(new Date().toISOString().slice(0, 7));
  expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toEqual(["list.exported"]);
});
