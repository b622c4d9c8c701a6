// What the billing page of the portal says of this month: counted with each certificate, and of this business's live ones alone.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { BusinessId } from "../../core/ids.ts";
import { databaseOf } from "../../storage/database.ts";
import { usageSince } from "../../storage/usage.ts";
import { json, signIn } from "../support/people.ts";
import { open, said, type Member } from "../support/portal-pages.ts";
import { call, consent, issue, submission, world } from "../support/world.ts";

const member = async (): Promise<Member> => ({ cookie: (await signIn(world.ownerEmail)).cookie as string });

/** As the page says them. */
const used = async (who: Member): Promise<readonly number[]> => {
  const page = said(await open(who, "/portal/billing"));
  const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(Date.now());
  const [, issued, withdrawn] =
    new RegExp(`Used in ${month}.*?Live certificates issued\\s*([\\d,]+).*?withdrawn\\s*([\\d,]+)`, "s").exec(page) ?? [];
  return [issued, withdrawn].map((text) => Number(text?.replaceAll(",", "")));
};

test("live certificates of this month and those withdrawn are counted, tests and others' are not", async () => {
  const who = await member();
  const [issued = 0, withdrawn = 0] = await used(who);
  const first = await issue();
  await issue();
  const elsewhere = { ...submission(world.other), page_url: "https://other.example/quote" };
  expect((await consent(elsewhere, { origin: "https://other.example" })).status).toBe(201);
  const sandbox = { ...world.acme, clients: { ...world.acme.clients, live: world.acme.clients.sandbox } };
  await issue({}, sandbox);
  expect(await used(who)).toEqual([issued + 2, withdrawn]);
  const token = String(first.manage_url).split("#m=")[1];
  expect((await call(`/v1/certs/${first.cert_id}/opt-out/manage`, json({ token }))).status).toBe(200);
  expect(await used(who)).toEqual([issued + 2, withdrawn + 1]);
});

test("a month begins anew", async () => {
  await issue();
  const now = new Date();
  const at = (months: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1);
  const db = databaseOf(env.DB);
  const id = world.acme.id as BusinessId;
  expect((await usageSince(db, id, at(0))).issued).toBeGreaterThan(0);
  expect(await usageSince(db, id, at(1))).toEqual({ issued: 0, withdrawn: 0 });
});
