// What the billing page of the portal says of this month and of twelve: counted with each certificate, and of this business's live ones alone.
import { expect, test } from "vitest";
import { signIn } from "../support/people.ts";
import { entriesOf } from "../support/portal.ts";
import { fileOf, lastOf, pictureOf, sumOf, tableOf } from "../support/portal-charts.ts";
import { open, said, send, type Member } from "../support/portal-pages.ts";
import { jsonPost } from "../support/withdrawing.ts";
import { call, consent, issue, submission, world } from "../support/world.ts";

const owner = (): Promise<Member> => signIn(world.ownerEmail);
const heading = "Live certificates, 12 months";

/** As the page says them. */
const used = async (who: Member, path = "/portal/billing"): Promise<readonly number[]> => {
  const page = await open(who, path);
  const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(Date.now());
  const [, issued, withdrawn] = new RegExp(`Used in ${month}: ([\\d,]+) issued, ([\\d,]+) withdrawn\\.`).exec(said(page)) ?? [];
  const told = [issued, withdrawn].map((text) => Number(text?.replaceAll(",", "")));
  expect(lastOf(page, heading)).toEqual(told);
  return told;
};

test("live certificates of this month and those withdrawn are counted, tests and others' are not", async () => {
  const who = await owner();
  const [issued = 0, withdrawn = 0] = await used(who);
  const first = await issue();
  await issue();
  const elsewhere = { ...submission(world.other), page_url: "https://other.example/quote" };
  expect((await consent(elsewhere, { origin: "https://other.example" })).status).toBe(201);
  const sandbox = { ...world.acme, clients: { ...world.acme.clients, live: world.acme.clients.sandbox } };
  await issue({}, sandbox);
  expect(await used(who)).toEqual([issued + 2, withdrawn]);
  const token = String(first.manage_url).split("#m=")[1];
  expect((await call(`/v1/certs/${first.cert_id}/opt-out/manage`, jsonPost({ token }))).status).toBe(200);
  expect(await used(who)).toEqual([issued + 2, withdrawn + 1]);
  expect(await used(who, "/portal/test/billing")).toEqual([issued + 2, withdrawn + 1]);
});

test("twelve months are drawn, and a member takes exactly what is shown as a file, which is entered", async () => {
  await issue();
  const member = await signIn(world.memberEmail);
  const page = await open(member, "/portal/billing");
  const rows = tableOf(page, heading);
  expect(rows).toHaveLength(12);
  const picture = pictureOf(page, "certificate_months");
  expect(picture).toEqual({ title: expect.stringContaining(`In 12 months: ${sumOf(rows, 1)} issued.`), up: 1, down: expect.any(Number) });
  const before = (await entriesOf(world.acme.id)).length;
  const file = await send(member, "/portal/billing", "/portal/billing/export");
  expect([file.status, file.headers.get("content-type"), file.headers.get("content-disposition")]).toEqual([
    200,
    "text/csv; charset=utf-8",
    'attachment; filename="certificate_months.csv"',
  ]);
  expect(fileOf(file).head).toBe("month,issued,withdrawn");
  expect(fileOf(file).rows.map((row) => row.slice(1))).toEqual(rows.map((row) => row.slice(1)));
  expect(fileOf(file).rows.at(-1)?.[0]).toBe(new Date().toISOString().slice(0, 7));
  expect((await entriesOf(world.acme.id)).slice(before)).toEqual(["list.exported"]);
});
