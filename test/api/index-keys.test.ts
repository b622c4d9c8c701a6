// Tests that people and records are found while the key that encrypts the stored indexes is rotated. Four services, one for each step of
// the rotation, share two databases, because during a deployment, isolates of adjacent steps run at the same time.
import { env } from "cloudflare:workers";
import { getColumns, getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { beforeEach, describe, expect, test } from "vitest";
import { getPlainIndex, listStoredForms } from "../../core/access/address-index.ts";
import { sha256Hex } from "../../core/hash.ts";
import { openVaultFromVars, type DemoBusiness } from "../../scripts/demo-world.ts";
import * as schema from "../../storage/schema.ts";
import { reindexSteps } from "../../storage/reindex-rows.ts";
import { firstShard } from "../../core/ids.ts";
import { openDatabase } from "../../storage/database.ts";
import { relayOutbox } from "../../workers/background/outbox-relay.ts";
import { continueAccountWithdrawals } from "../../workers/operations/consumers/continue-account-withdrawals.ts";
import type { Env } from "../../workers/env.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { waitUntilSettled, trackBackgroundWork } from "../support/background-work.ts";
import { createBrowserSession } from "../support/browser-session.ts";
import { findNewestCode } from "../support/email-code.ts";
import { createRandomKey } from "../support/note-keys.ts";
import { buildJsonRequest, clearCodes, getCookie, requestEmailCode, submitEmailCode } from "../support/people.ts";
import { signUp } from "../support/portal.ts";
import { buildDecision, createVerifier, describeOutcome } from "../support/sharing.ts";
import { createEmailAddress, requestWithdrawalCode, submitWithdrawalCode, getCookies } from "../support/withdrawal.ts";
import {
  buildConsentRequest,
  buildSubmission,
  createServiceCall,
  readDatabaseContents,
  world,
  worldInSecondShard,
  type Call,
} from "../support/world.ts";

const token = "operator-token-of-the-tests-not-a-secret-1";
const operator = { authorization: `Bearer ${token}` };
const key = createRandomKey(93);
const settings = {
  before: "",
  next: `index,1:${key}@next`,
  both: `index,1:${key}`,
  after: `1:${key}`,
};
type Step = keyof typeof settings;
const buildVars = (step: Step) => ({ ...env, ADMIN_TOKEN_SHA256: sha256Hex(token), INDEX_ENCRYPTION_KEYS: settings[step] });
const services = Object.fromEntries(
  Object.keys(settings).map((step) => [step, createServiceCall({ ...buildVars(step as Step), LIMIT_API_KEY: "100000/60" })]),
) as Record<Step, Call>;
const databases = [env.DB, env.DB_01];

/**
 * Encrypts the stored indexes with the step's keys, unless `isCheck` is true. Returns the number of rows whose indexes are in an earlier
 * form, such as unencrypted.
 */
const reindex = async (step: Step, isCheck = false): Promise<number> => {
  let outdated = 0;
  for (let cursor: unknown = null; ; ) {
    const response = await services[step]("/v1/admin/keys/index", buildJsonRequest({ check: isCheck, cursor }, operator));
    outdated += response.body.data.outdated;
    if (response.body.data.next === null) return outdated;
    cursor = response.body.data.next;
  }
};

/** Returns the newest code emailed to an address. Uses the service with both keys, because it finds the address in every stored form. */
const readCode = async (email: string): Promise<string> => {
  await waitUntilSettled();
  const { body } = await services.both(`/dev/mail?to=${encodeURIComponent(email)}`);
  return findNewestCode(body.messages) as string;
};

const post = (service: Call, path: string, body: unknown, headers: Record<string, string> = {}) =>
  service(path, buildJsonRequest(body, headers));
const buildBearer = ({ keys }: DemoBusiness) => ({ authorization: `Bearer ${keys.live}` });

let phones = 5_550_000;
const createPhone = (): string => {
  phones += 1;
  return `+1202${phones}`;
};

const issue = async (service: Call, fields: Record<string, string>, business = world.acme): Promise<string> => {
  const response = await service(
    "/v1/consent",
    buildConsentRequest({ ...buildSubmission(business), fields: { first_name: "Pat", ...fields } }),
  );
  if (response.status !== 201) throw new Error(response.text);
  return response.body.data.cert_id;
};

const search = async (service: Call, query: object): Promise<readonly string[]> =>
  (await post(service, "/v1/certs/search", query, buildBearer(world.acme))).body.data.certs.map(
    ({ cert_id: id }: { cert_id: string }) => id,
  );

const check = async (service: Call, subject: object): Promise<unknown[]> => {
  const [{ contactable, reason, basis }] = (await post(service, "/v1/contact-check", { subjects: [subject] }, buildBearer(world.acme))).body
    .data.results;
  return [contactable, reason, basis.map(({ id }: { id: string }) => id)];
};

const signInAt = async (request: Call, submit: Call, email: string, realm: "consumer" | "business" = "consumer") => {
  const requested = await requestEmailCode(email, realm, request);
  const code = await readCode(email);
  return submitEmailCode(email, code, realm, { cookie: getCookie(requested) }, submit);
};

const readStatus = async (certId: string): Promise<string> => (await services.both(`/v1/certs/${certId}/verify`)).body.data.status;

interface Person {
  readonly id: string;
  readonly cookie: string;
}
const enter = async (request: Call, submit: Call, email: string): Promise<Person & { readonly created: boolean }> => {
  const response = await signInAt(request, submit, email);
  if (response.status !== 200) throw new Error(response.text);
  const { created, user } = response.body.data;
  return { created, id: user.id, cookie: getCookie(response) };
};

beforeEach(clearCodes);

/** In each pair, the first isolate writes and the second reads. */
const neighbors: readonly (readonly [Step, Step])[] = [
  ["before", "next"],
  ["next", "before"],
  ["next", "both"],
  ["both", "next"],
  ["both", "both"],
];

describe.each(neighbors)("an isolate with the keys of step %s, and one of step %s", (writer, reader) => {
  const [write, read] = [services[writer], services[reader]];

  test("find each other's certificates by every address, in searches, contact checks and matches", async () => {
    const [email, phone] = [createEmailAddress(), createPhone()];
    const id = await issue(write, { email, phone });
    for (const query of [{ subject_email: email }, { subject_phone: phone }, { subject_email: email, subject_phone: phone }])
      expect(await search(read, query)).toEqual([id]);
    for (const subject of [{ email }, { phone }, { email_sha256: sha256Hex(email) }, { email, phone }])
      expect(await check(read, subject)).toEqual([true, "active_consent", [id]]);
    const matched = await post(read, `/v1/certs/${id}/match`, { email, phone }, buildBearer(world.acme));
    expect(matched.body.data).toMatchObject({ email: true, phone: true });
  });

  test("sign in the same person, and show the same certificates and shares in all shards", async () => {
    const email = createEmailAddress();
    const first = await enter(write, write, email);
    const repeated = await enter(read, write, email);
    const third = await enter(write, read, email);
    expect([first.created, repeated.created, third.created]).toEqual([true, false, false]);
    expect([repeated.id, third.id]).toEqual([first.id, first.id]);
    const certs = [await issue(write, { email }), await issue(read, { email })];
    await issue(write, { email }, worldInSecondShard.acme);
    for (const service of [write, read]) {
      const { businesses } = (await service("/v1/me/certificates", { headers: { cookie: first.cookie } })).body.data;
      expect(businesses.map(({ certificates }: { certificates: number }) => certificates).toSorted()).toEqual([1, 2]);
      const { certificates } = (await service(`/v1/me/certificates/${world.acme.id}`, { headers: { cookie: first.cookie } })).body.data;
      expect(certificates.map(({ cert_id: id }: { cert_id: string }) => id).toSorted()).toEqual(certs.toSorted());
      expect((await service("/app", { headers: { cookie: first.cookie } })).text).toContain(worldInSecondShard.acme.name);
    }
    await write("/v1/me/fields", { ...buildJsonRequest({ email, first_name: "Pat" }, { cookie: first.cookie }), method: "PUT" });
    const granted = await post(write, "/v1/share/consent", buildDecision(createVerifier(), { scope: ["email"] }), { cookie: first.cookie });
    const [, , basis] = await check(read, { email });
    expect((basis as string[]).toSorted()).toEqual([...certs, granted.body.data.share.id].toSorted());
  });

  test("withdraw each other's certificates, by code, from the account and for every address", async () => {
    const email = createEmailAddress();
    const certs = [await issue(write, { email }), await issue(read, { email })];
    const far = await issue(write, { email }, worldInSecondShard.acme);
    const [target = ""] = certs;
    const requested = await requestWithdrawalCode(target, email, {}, write);
    const submission = { email, code: await readCode(email), scope: "business" };
    expect(describeOutcome(await submitWithdrawalCode(target, submission, getCookies(requested), read))).toBe("200 ok");
    expect(await Promise.all([...certs, far].map(readStatus))).toEqual(["revoked", "revoked", "active"]);
    const { cookie } = await enter(write, read, email);
    const near = await issue(read, { email });
    expect(describeOutcome(await post(read, "/v1/me/certificates/withdraw", { scope: "everything" }, { cookie }))).toBe("200 ok");
    expect(await Promise.all([near, far].map(readStatus))).toEqual(["revoked", "revoked"]);
    const phone = createPhone();
    const several = { email, work_email: createEmailAddress(), phone, mobile: createPhone() };
    const byPhone = [await issue(write, several), await issue(read, { email: createEmailAddress(), phone })];
    const recorded = { method: "phone", received_at: new Date(Date.now() - 1_000).toISOString(), scope: "business" };
    const response = await post(read, `/v1/certs/${byPhone[0]}/withdrawals`, recorded, buildBearer(world.acme));
    expect(describeOutcome(response)).toBe("201 ok");
    expect(await Promise.all(byPhone.map(readStatus))).toEqual(["revoked", "revoked"]);
  });

  test("complete each other's sign-ups and invitations, and refuse a second invitation and a second membership", async () => {
    const [owner, invited] = [createEmailAddress(), createEmailAddress()];
    await signUp(owner, {}, write);
    const signedUp = await submitEmailCode(owner, await readCode(owner), "business", {}, read);
    expect(signedUp.body.data.created).toBe(true);
    const cookie = getCookie(signedUp);
    const invite = (service: Call) => post(service, "/v1/business/portal/members", { email: invited, role: "member" }, { cookie });
    expect([describeOutcome(await invite(write)), describeOutcome(await invite(read))]).toEqual(["201 ok", "201 ok"]);
    const listPeople = async (service: Call) => (await service("/v1/business/portal/members", { headers: { cookie } })).body.data.members;
    expect(await listPeople(write)).toHaveLength(2);
    const joining = await signInAt(write, read, invited, "business");
    const browser = createBrowserSession(getCookie(joining), read);
    const joined = await browser.send(await browser.open("/portal/invitations"), "/portal/invitations/accept");
    expect(joined.headers.get("location")).toBe("/portal?done=joined");
    expect(describeOutcome(await invite(write))).toBe("400 invalid_request");
    expect(describeOutcome(await invite(read))).toBe("400 invalid_request");
    expect(await listPeople(read)).toHaveLength(2);
    const { business_id: id } = signedUp.body.data.user;
    expect((await signInAt(read, write, invited, "business")).body.data.user.business_id).toBe(id);
    // The invited person's session, which started before this second invitation, must show it.
    await clearCodes();
    const second = createEmailAddress();
    await signUp(second, { business_name: "Second Roofs LLC" }, read);
    const other = await submitEmailCode(second, await readCode(second), "business", {}, write);
    await post(read, "/v1/business/portal/members", { email: invited, role: "member" }, { cookie: getCookie(other) });
    for (const service of [write, read]) {
      const page = await createBrowserSession([...browser.jar].map(([name, value]) => `${name}=${value}`).join("; "), service).open(
        "/portal",
      );
      expect(page.text).toContain("/portal/businesses");
    }
  });

  test("count wrong codes and codes of an address together", async () => {
    const email = createEmailAddress();
    await requestEmailCode(email, "consumer", write);
    await requestEmailCode(email, "consumer", read);
    const { body } = await services.both(`/dev/mail?to=${encodeURIComponent(email)}`);
    expect(body.messages).toHaveLength(1);
    for (const service of [write, read, write, read]) await submitEmailCode(email, "000000", "consumer", {}, service);
    const index = await (await openVaultFromVars(buildVars("both"))).blindIndex("email", email);
    const counted = await env.DB.prepare(
      "SELECT count(*) AS n, sum(failures) AS failures FROM email_code_failures WHERE address_index IN (SELECT value FROM json_each(?))",
    )
      .bind(JSON.stringify(listStoredForms(index)))
      .first();
    expect(counted).toEqual({ n: 1, failures: 4 });
  });

  test("create one account when they handle the first sign-in of an address at the same time", async () => {
    const email = createEmailAddress();
    const codes: string[] = [];
    for (const service of [write, read]) {
      await requestEmailCode(email, "consumer", service);
      codes.push(await readCode(email));
      // Makes the code older than a minute. Otherwise, the service would not email the next code.
      await env.DB.prepare("UPDATE email_codes SET created_at = created_at - 61000").run();
    }
    await Promise.all([write, read].map((service, at) => submitEmailCode(email, codes[at] as string, "consumer", {}, service)));
    const index = await (await openVaultFromVars(buildVars("both"))).blindIndex("email", email);
    const count = await env.DB.prepare("SELECT count(*) AS n FROM consumers WHERE email_index IN (SELECT value FROM json_each(?))")
      .bind(JSON.stringify(listStoredForms(index)))
      .first("n");
    expect(count).toBe(1);
  });

  test("create one invitation when both invite the same address at the same time", async () => {
    const [owner, invited] = [createEmailAddress(), createEmailAddress()];
    await signUp(owner, {}, write);
    const cookie = getCookie(await submitEmailCode(owner, await readCode(owner), "business", {}, read));
    await Promise.all(
      [write, read].map((service) => post(service, "/v1/business/portal/members", { email: invited, role: "member" }, { cookie })),
    );
    expect((await read("/v1/business/portal/members", { headers: { cookie } })).body.data.members).toHaveLength(2);
  });

  test("erase the codes of both when an account is deleted", async () => {
    const email = createEmailAddress();
    const { cookie } = await enter(write, read, email);
    for (const service of [write, read]) await submitEmailCode(email, "000000", "consumer", {}, service);
    const deleted = await read("/v1/me", { ...buildJsonRequest({ confirm: "DELETE" }, { cookie }), method: "DELETE" });
    expect(deleted.status).toBe(200);
    await waitUntilSettled();
    const rows = await env.DB.prepare("SELECT (SELECT count(*) FROM email_codes) + (SELECT count(*) FROM email_code_failures) AS n").first(
      "n",
    );
    expect(rows).toBe(0);
  });
});

describe("encrypting the stored indexes", () => {
  test("finds everything with the new key alone, continues withdrawals, and leaves no index that the first key alone computes", async () => {
    const { before, both, after } = services;
    const [email, phone, owner, invited] = [createEmailAddress(), createPhone(), createEmailAddress(), createEmailAddress()];
    const certs = [await issue(before, { email, phone }), await issue(both, { email, phone })];
    const far = await issue(before, { email }, worldInSecondShard.acme);
    const revoked = await issue(before, { email, phone });
    const recorded = { method: "phone", received_at: new Date(Date.now() - 1_000).toISOString(), scope: "certificate" };
    await post(before, `/v1/certs/${revoked}/withdrawals`, recorded, buildBearer(world.acme));
    const person = await enter(before, before, email);
    await before("/v1/me/fields", { ...buildJsonRequest({ email, phone, first_name: "Pat" }, { cookie: person.cookie }), method: "PUT" });
    const granted = await post(before, "/v1/share/consent", buildDecision(createVerifier()), { cookie: person.cookie });
    await signUp(owner, {}, before);
    const cookie = getCookie(await submitEmailCode(owner, await readCode(owner), "business", {}, before));
    await post(before, "/v1/business/portal/members", { email: invited, role: "member" }, { cookie });
    // Simulates two withdrawals that were interrupted before the rotation: one from all businesses, and one from a single business.
    const [waiting, rest] = [createEmailAddress(), createEmailAddress()];
    const interrupted = [await issue(before, { email: waiting }), await issue(before, { email: rest })];
    await env.DB.prepare(
      `INSERT INTO account_withdrawals (address_index, business_id, withdrawn_at, next_at)
       SELECT email_indexes ->> 0, '', issued_at + 1, issued_at FROM certificates WHERE id = ?`,
    )
      .bind(interrupted[0])
      .run();
    await env.DB.prepare(
      `INSERT INTO withdrawal_work (cert_id, business_id, environment, address_indexes, withdrawn_at, method, next_at)
       SELECT ?2, business_id, environment, email_indexes, issued_at + 1, 'email_code', issued_at FROM certificates WHERE id = ?1`,
    )
      .bind(interrupted[1], revoked)
      .run();

    await waitUntilSettled();
    expect(await reindex("both", true)).toBeGreaterThan(8);
    expect(await reindex("both")).toBeGreaterThan(8);
    expect(await reindex("both", true)).toBe(0);
    expect(await reindex("both")).toBe(0);
    await env.DB.prepare("UPDATE withdrawal_work SET address_indexes = json_array(address_indexes ->> 0)").run();

    expect((await search(after, { subject_email: email })).toSorted()).toEqual([...certs, revoked].toSorted());
    expect((await search(after, { subject_phone: phone, status: "active" })).toSorted()).toEqual(certs.toSorted());
    const [, , basis] = await check(after, { email });
    expect((basis as string[]).toSorted()).toEqual([...certs, revoked, granted.body.data.share.id].toSorted());
    expect(await enter(after, after, email)).toMatchObject({ created: false, id: person.id });
    const { businesses } = (await after("/v1/me/certificates", { headers: { cookie: person.cookie } })).body.data;
    expect(businesses).toHaveLength(2);
    expect((await signInAt(after, after, owner, "business")).body.data.created).toBe(false);
    const joining = createBrowserSession(getCookie(await signInAt(after, after, invited, "business")), after);
    const joined = await joining.send(await joining.open("/portal/invitations"), "/portal/invitations/accept");
    expect(joined.headers.get("location")).toBe("/portal?done=joined");

    const vault = await openVaultFromVars(buildVars("both"));
    const plain = await Promise.all(
      [email, owner, invited, waiting, rest].map(async (address) => getPlainIndex(await vault.blindIndex("email", address))),
    );
    plain.push(getPlainIndex(await vault.blindIndex("phone", phone)));
    const contents = await Promise.all(databases.map((db) => readDatabaseContents(db)));
    const found = contents.flatMap((tables) =>
      Object.entries(tables).flatMap(([table, rows]) => plain.filter((index) => rows.includes(`"${index}`)).map(() => table)),
    );
    expect(found).toEqual([]);

    const platform = trackBackgroundWork(await createPlatform(buildVars("after") as unknown as Env));
    await continueAccountWithdrawals({ ...platform, hasBudget: async () => true }, openDatabase(env.DB), firstShard);
    await relayOutbox(platform);
    expect(await Promise.all(interrupted.map(readStatus))).toEqual(["revoked", "revoked"]);
    const all = await post(after, "/v1/me/certificates/withdraw", { scope: "everything" }, { cookie: person.cookie });
    expect(all.body.data.is_pending ?? all.body.data.pending ?? false).toBe(false);
    expect(await Promise.all([...certs, far].map(readStatus))).toEqual(["revoked", "revoked", "revoked"]);
  });

  test("covers every table that has a column with indexes", () => {
    const indexed = Object.values(schema).flatMap((table) =>
      is(table, SQLiteTable) && Object.values(getColumns(table)).some(({ name }) => /_index(?:es)?$/.test(name))
        ? [getTableName(table)]
        : [],
    );
    const covered = [...reindexSteps.keys()].map((step) => step.split(".")[0]);
    expect(indexed.toSorted()).toEqual([...new Set([...covered, "certificate_addresses"])].toSorted());
  });

  test("refuses an unknown step or shard, and callers without the token", async () => {
    const at = "/v1/admin/keys/index";
    const call = (body: object, headers: Record<string, string> = operator) => post(services.both, at, body, headers);
    expect(describeOutcome(await call({ cursor: { shard: "zz", step: "members", position: [] } }))).toBe("404 not_found");
    expect(describeOutcome(await call({ cursor: { shard: "00", step: "businesses", position: [] } }))).toBe("404 not_found");
    expect(describeOutcome(await call({ cursor: 7 }))).toBe("400 invalid_request");
    expect(describeOutcome(await call({}, {}))).toBe("401 unauthorized");
  });
});
