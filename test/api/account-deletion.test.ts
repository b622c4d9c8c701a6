// Tests DELETE /v1/me, which deletes the account and erases everything that identifies the person from every shard.
import { env } from "cloudflare:workers";
import { describe, expect, onTestFinished, test } from "vitest";
import { minuteMs } from "../../core/time.ts";
import type { ConsumerId } from "../../core/ids.ts";
import { openDatabase, type Database } from "../../storage/database.ts";
import { maxSweptInRequest, listOverdueShares } from "../../storage/share-sweep.ts";
import { listStuckWork } from "../../storage/stuck-work.ts";
import type { Vault } from "../../storage/vault.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { Authenticator } from "../support/authenticator.ts";
import { copyRow } from "../support/copied-rows.ts";
import { exchangeCode, getAuthorizationCode, registerClient } from "../support/oauth-connection.ts";
import { buildJsonRequest, forgetOwnerNotices, listMailTo, requestEmailCode, signIn } from "../support/people.ts";
import { requestCreationOptions } from "../support/passkeys.ts";
import { callWith, createOutagePlatform, platform } from "../support/scenarios.ts";
import {
  listAllEvents,
  buildDecision,
  createVerifier,
  grantShare,
  describeOutcome,
  signInPerson,
  getWithApiKey,
  redeemCode,
  contactValues,
  postWithApiKey,
  type SignedPerson,
} from "../support/sharing.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { issueToNewPerson } from "../support/withdrawal.ts";
import { call, readDatabaseContents, world, worldInSecondShard, type Call } from "../support/world.ts";

const databases = [env.DB, env.DB_01];
const remove = ({ headers }: Pick<SignedPerson, "headers">, service: Call = call, body: object | null = { confirm: "DELETE" }) =>
  service("/v1/me", body === null ? { method: "DELETE", headers } : { ...buildJsonRequest(body, headers), method: "DELETE" });
const createLaterClock = (ms: number): Partial<Platform> => ({ clock: () => Date.now() + ms });
const createCallWith =
  (changed: Partial<Platform>): Call =>
  (path, init) =>
    callWith(changed, path, init);

/** Records every encrypted value with its plaintext and the record key that encrypted it. */
const recordSealedTexts = () => {
  const sealed = new Map<string, { readonly text: string; readonly key: string | null }>();
  const { vault } = platform;
  const recordSeal =
    (seal: Vault["seal"], key: string | null): Vault["seal"] =>
    async (context, text) => {
      const value = await seal(context, text);
      sealed.set(value, { text, key });
      return value;
    };
  const recording: Vault = {
    ...vault,
    seal: recordSeal(vault.seal, null),
    withRecordKey: async (key) => {
      const sealer = await vault.withRecordKey(key);
      return { ...sealer, seal: recordSeal(sealer.seal, key) };
    },
  };
  return { sealed, service: createCallWith({ vault: recording }) };
};
const readAllShards = async (): Promise<string> => JSON.stringify(await Promise.all(databases.map((db) => readDatabaseContents(db))));

describe("DELETE /v1/me", () => {
  test("revokes every share on every shard, notifies each business and signs the person out", async () => {
    const person = await signInPerson();
    const other = await signIn(person.email, "consumer");
    const shares = [
      await grantShare(person),
      await grantShare(person, { scope: ["name"] }),
      await grantShare(person, { origin: "https://other.example" }, world.other),
      await grantShare(person, {}, worldInSecondShard.acme),
    ];
    const [first, , , far] = shares.map(({ share }) => share.id);
    const stopped = (await grantShare(person)).share.id;
    await person.post(`/v1/me/sever/${stopped}`, { reason: "My number is +1 202 555 0123" });
    await forgetOwnerNotices();
    const before = (await listMailTo(world.ownerEmail)).length;

    const response = await remove(person);
    expect(describeOutcome(response)).toBe("200 ok");
    expect(response.body.data).toEqual({ deleted: true, shares_revoked: 4, fields_erased: true });
    expect(response.headers.get("set-cookie")).toMatch(/^svc_session=;/);
    for (const headers of [person.headers, other]) expect((await call("/v1/me", { headers })).status).toBe(401);

    for (const { share } of shares.slice(0, 2)) {
      const near = (await getWithApiKey(`/v1/shares/${share.id}`)).body.data;
      expect(near).toMatchObject({ status: "revoked", fingerprint: share.fingerprint, reason: null });
    }
    expect((await getWithApiKey(`/v1/shares/${stopped}`)).body.data).toMatchObject({ status: "revoked", reason: null });
    expect(describeOutcome(await getWithApiKey(`/v1/consumers/${far}/current`, worldInSecondShard.acme.keys.live))).toBe(
      "409 share_inactive",
    );
    expect(describeOutcome(await redeemCode(shares[0] as (typeof shares)[number]))).toBe("409 share_inactive");
    expect(describeOutcome(await postWithApiKey(`/v1/shares/${first}/cease-ack`, { note: "Pat is off the list" }))).toBe("200 ok");
    expect((await getWithApiKey(`/v1/shares/${first}`)).body.data.status).toBe("ceased");
    const details = env.DB.prepare("SELECT details_sealed FROM share_acknowledgements WHERE share_id = ?").bind(first);
    expect(await details.first("details_sealed")).toBe("");
    const contact = await postWithApiKey("/v1/contact-check", { subjects: [{ email: contactValues.email }] });
    expect(contact.body.data.results[0].basis.map(({ id }: { id: string }) => id)).not.toContain(first);

    await waitUntilSettled();
    const revocationEvents = (await listAllEvents()).filter(
      ({ type, share_id }) => type === "share.revoked" && [first, stopped].includes(share_id),
    );
    expect(revocationEvents).toHaveLength(2);
    const mails = (await listMailTo(world.ownerEmail)).slice(0, -before || undefined);
    expect(mails.filter(({ text }) => text.includes(first))).toHaveLength(1);
    expect(mails.find(({ text }) => text.includes(first))?.text).toContain(shares[1]?.share.id);
    expect((await listMailTo(person.email))[0]?.subject).toBe("Your account has been deleted");
  });

  test("leaves no saved response with the person's ID in any shard", async () => {
    const person = await signInPerson({});
    const id = (await person.get("/v1/me")).body.data.id as string;
    const far = await issueToNewPerson({ fields: { email: person.email } }, worldInSecondShard.acme);
    const withdrawal = { scope: "certificate", cert_id: far.certId };
    const withdrawn = await person.post("/v1/me/certificates/withdraw", withdrawal, { "idempotency-key": crypto.randomUUID() });
    expect(describeOutcome(withdrawn)).toBe("200 ok");
    expect(withdrawn.text).not.toContain(person.email);
    const token = await person.post("/v1/me/agent-token", { name: "Helper" }, { "idempotency-key": crypto.randomUUID() });
    expect(describeOutcome(token)).toBe("201 ok");
    expect(describeOutcome(await remove(person))).toBe("200 ok");
    for (const db of databases)
      expect(await db.prepare("SELECT COUNT(*) FROM idempotent_responses WHERE consumer_id = ?").bind(id).first("COUNT(*)")).toBe(0);
  });

  test("leaves nothing in any table of any shard that decrypts to the person's data or identifies them", async () => {
    const { sealed, service } = recordSealedTexts();
    const marker = crypto.randomUUID().slice(0, 8);
    const email = `${marker}@example.com`;
    const person = await signInPerson({ ...contactValues, email, first_name: `Name${marker}`, address_line1: `${marker} Street` }, service);
    const id = (await person.get("/v1/me")).body.data.id as string;
    const near = await grantShare(person, { scope: ["email", "name", "address"], missing_ok: ["address"] });
    const far = await grantShare(person, { scope: ["email", "name"] }, worldInSecondShard.acme);
    await redeemCode(near, {}, undefined, service);
    await person.put("/v1/me/fields", { last_name: `Last${marker}` });
    await person.post(`/v1/me/sever/${(await grantShare(person)).share.id}`, { reason: `It is ${marker}` });
    await service(`/v1/shares/${(await grantShare(person)).share.id}/revoke`, buildJsonRequest({}, person.headers));
    const token = await person.post("/v1/me/agent-token", { name: `Agent ${marker}` }, { "idempotency-key": marker });
    expect(token.status).toBe(201);
    await env.DB.prepare(
      "INSERT INTO passkeys (id, user_id, credential_id, user_handle, public_key, counter, transports, backed_up, name_sealed, created_at) VALUES ('psk_x', ?, 'x', 'x', 'x', 0, '[]', 0, ?, 0)",
    )
      .bind(id, person.email)
      .run();
    expect([...sealed.values()].some(({ text }) => text.includes(marker))).toBe(true);

    expect(describeOutcome(await remove(person, service))).toBe("200 ok");
    await waitUntilSettled();
    await listMailTo(person.email); // sends emails that may still be waiting for the cron job on a busy machine
    await env.DB.prepare("DELETE FROM captured_mail").run(); // the table of captured email exists only in development
    const contents = await readAllShards();
    for (const [value, { text, key }] of sealed) {
      const opens = contents.includes(value) && (key === null || contents.includes(key));
      if (opens) expect(text).not.toMatch(new RegExp(`${marker}|${person.email}`));
    }
    expect(contents).not.toContain(person.email);
    for (const db of databases) {
      const shares = await db.prepare("SELECT COUNT(*) AS n FROM shares WHERE consumer_id = ?").bind(id).first<{ n: number }>();
      expect(shares?.n).toBe(0);
    }
    const row = await env.DB.prepare("SELECT * FROM consumers WHERE id = ?").bind(id).first();
    expect(row).toMatchObject({ email_sealed: "", email_index: `erased ${id}`, name_sealed: null, fields_sealed: null });
    expect((await getWithApiKey(`/v1/shares/${far.share.id}`, worldInSecondShard.acme.keys.live)).body.data.status).toBe("revoked");
  });

  test("deletes emails to the person that were not sent yet", async () => {
    await env.DB.exec("CREATE TRIGGER mail_fails BEFORE INSERT ON captured_mail BEGIN SELECT RAISE(ABORT, 'the provider is down'); END");
    onTestFinished(async () => void (await env.DB.exec("DROP TRIGGER mail_fails")));
    const person = await signInPerson({});
    const client = await registerClient();
    const connected = await exchangeCode(await getAuthorizationCode(client, person.headers), client);
    expect(connected.status).toBe(200);
    await requestEmailCode(person.email, "consumer");
    await issueToNewPerson({ fields: { email: person.email } });
    await person.post("/v1/me/certificates/withdraw", { scope: "everything" });
    const personMails = "'account_withdrawal_confirmation', 'agent_connected', 'login_code'";
    const listUnsent = async () =>
      (await env.DB.prepare(`SELECT template FROM mail_outbox WHERE template IN (${personMails}) ORDER BY template`).all()).results;
    expect(await listUnsent()).toEqual([
      { template: "account_withdrawal_confirmation" },
      { template: "agent_connected" },
      { template: "login_code" },
    ]);

    expect(describeOutcome(await remove(person))).toBe("200 ok");
    expect(await listUnsent()).toEqual([]);
  });

  test("allows a new account with the same address, without any data of the deleted one", async () => {
    const person = await signInPerson();
    const old = (await person.get("/v1/me")).body.data.id;
    await grantShare(person);
    await remove(person);
    const headers = await signIn(person.email, "consumer");
    const profile = (await call("/v1/me", { headers })).body.data;
    expect(profile.id).not.toBe(old);
    expect(profile).toMatchObject({ shares_active: 0, fields_updated_at: null });
    expect((await call("/v1/me/shares", { headers })).body.data.shares).toEqual([]);
  });

  test("records a share past its end date as expired, not revoked", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person, { duration_days: 1 });
    const nextDay = createCallWith({ clock: () => Date.now() + 25 * 60 * minuteMs });
    const headers = await signIn(person.email, "consumer");
    await env.DB.prepare("UPDATE sessions SET verified_at = verified_at + ?1, expires_at = expires_at + ?1")
      .bind(25 * 60 * minuteMs)
      .run();
    expect((await remove({ headers }, nextDay)).body.data).toMatchObject({ deleted: true, shares_revoked: 0 });
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.status).toBe("expired");
    expect((await env.DB.prepare("SELECT consumer_id FROM shares WHERE id = ?").bind(share.id).first())?.consumer_id).toBeNull();
  });

  test("expires all overdue shares before it erases the person, even if one sweep cannot cover them all", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person, { duration_days: 1 });
    const count = maxSweptInRequest + 600; // a single sweep would leave 600 of them
    const over = Date.now() - minuteMs;
    await copyRow("shares", share.id, count, { expires_at: `${over}`, next_due_at: `${over}` });
    await person.post(`/v1/me/sever/${share.id}`, {}); // revokes the original share, the only active one
    const id = (await person.get("/v1/me")).body.data.id as ConsumerId;
    expect(await listOverdueShares(openDatabase(env.DB), id, Date.now())).toHaveLength(maxSweptInRequest);

    expect((await remove(person)).body.data).toMatchObject({ deleted: true, shares_revoked: 0 });
    const { results } = await env.DB.prepare(
      "SELECT state, consumer_id, COUNT(*) AS n FROM shares WHERE id LIKE ? GROUP BY state, consumer_id ORDER BY state",
    )
      .bind(`${share.id.slice(0, 20)}%`)
      .all();
    expect(results).toEqual([
      { state: "expired", consumer_id: null, n: count },
      { state: "revoked", consumer_id: null, n: 1 },
    ]);
  });
});

describe("DELETE /v1/me, required confirmation", () => {
  test("requires a sign-in within the last five minutes, regardless of the session's age", async () => {
    const person = await signInPerson();
    await grantShare(person);
    const before = await readDatabaseContents();
    expect(describeOutcome(await remove(person, createCallWith(createLaterClock(5 * minuteMs))))).toBe("403 forbidden");
    expect(describeOutcome(await remove(person, call, { confirm: "yes" }))).toBe("400 invalid_request");
    expect(describeOutcome(await remove({ headers: { ...person.headers, origin: "https://elsewhere.example" } as never }))).toBe(
      "403 csrf_failed",
    );
    expect(await readDatabaseContents()).toEqual(before);
    expect(describeOutcome(await remove(person, createCallWith(createLaterClock(4 * minuteMs)), null))).toBe("200 ok");
  });
});

/** Returns a service that deletes the person's account right before the service's next write of a record to the shard of `id`. */
const createOvertakenService = (id: string, person: SignedPerson) => {
  const { shards } = platform;
  const shard = shards.forId(id) as Database;
  let isArmed = true;
  const overtaken = new Proxy(shard, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (name !== "batch") return typeof value === "function" ? value.bind(target) : value;
      return async (statements: readonly unknown[]) => {
        const isWrite = isArmed && statements.length > 2;
        if (isWrite) isArmed = false;
        if (isWrite) expect(describeOutcome(await remove(person))).toBe("200 ok");
        return target.batch(statements as never);
      };
    },
  });
  const service = createCallWith({ shards: { ...shards, forId: (of) => (shards.forId(of) === shard ? overtaken : shards.forId(of)) } });
  return { service, isOvertaken: () => !isArmed };
};

describe("DELETE /v1/me, interrupted or concurrent", () => {
  test("returns 503 while a shard is unavailable, blocks new grants, and erases the rest automatically later", async () => {
    const person = await signInPerson();
    const near = await grantShare(person);
    const far = await grantShare(person, {}, worldInSecondShard.acme);
    const id = (await person.get("/v1/me")).body.data.id as string;
    const unavailableDatabase = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const { shards } = platform;
    const halved = createCallWith({
      shards: { ...shards, get: (shardId) => (shardId === "01" ? unavailableDatabase : shards.get(shardId)) },
    });
    expect(describeOutcome(await remove(person, halved))).toBe("503 storage_unavailable");
    expect((await getWithApiKey(`/v1/shares/${far.share.id}`, worldInSecondShard.acme.keys.live)).body.data.status).toBe("active");
    expect((await person.put("/v1/me/fields", { city: "Elsewhere" })).status).toBe(401);
    await expect(grantShare(person)).rejects.toThrow("not granted");
    const stuck = await listStuckWork(openDatabase(env.DB), Date.now() + 11 * minuteMs);
    expect(stuck.filter(({ kind }) => kind === "account_erasures")).toMatchObject([{ count: 1 }]);

    await settleShares({ ...platform, clock: () => Date.now() + 2 * minuteMs });
    for (const [share, key] of [
      [near.share.id, world.acme.keys.live],
      [far.share.id, worldInSecondShard.acme.keys.live],
    ]) {
      expect((await getWithApiKey(`/v1/shares/${share}`, key)).body.data.status).toBe("revoked");
    }
    expect((await env.DB.prepare("SELECT email_sealed FROM consumers WHERE id = ?").bind(id).first())?.email_sealed).toBe("");
    expect((await env.DB.prepare("SELECT COUNT(*) AS n FROM account_erasures").first<{ n: number }>())?.n).toBe(0);
    expect((await person.get("/v1/me")).status).toBe(401);
  });

  test("revokes a grant in progress on another shard, and erases the person from it", async () => {
    const person = await signInPerson();
    const id = (await person.get("/v1/me")).body.data.id as string;
    const { service, isOvertaken } = createOvertakenService("con_01", person);
    const response = await service(
      "/v1/share/consent",
      buildJsonRequest(buildDecision(createVerifier(), {}, worldInSecondShard.acme), person.headers),
    );
    expect(isOvertaken()).toBe(true);
    expect(response.status).toBe(201);
    const rows = await (databases[1] as D1Database)
      .prepare("SELECT state, consumer_id, subject_sealed, email_index FROM shares WHERE id = ?")
      .bind(response.body.data.share.id)
      .first();
    expect(rows).toEqual({ state: "revoked", consumer_id: null, subject_sealed: null, email_index: null });
    const remaining = await (databases[1] as D1Database)
      .prepare("SELECT COUNT(*) AS n FROM mail_outbox WHERE consumer_id = ?")
      .bind(id)
      .first<{ n: number }>();
    expect(remaining?.n).toBe(0);
  });

  test("refuses an agent token or passkey that is created meanwhile, and leaves nothing of it", async () => {
    const owner = await signInPerson();
    const withToken = createOvertakenService("con_00", owner);
    const token = await withToken.service("/v1/me/agent-token", buildJsonRequest({ name: "Pat's laptop" }, owner.headers));
    expect([withToken.isOvertaken(), describeOutcome(token)]).toEqual([true, "401 unauthorized"]);

    const person = await signInPerson();
    const { options } = (await requestCreationOptions(person.headers)).body.data;
    const withPasskey = createOvertakenService("con_00", person);
    const body = { credential: await new Authenticator().make(options), name: "Pat's key" };
    const passkey = await withPasskey.service("/v1/me/passkeys", buildJsonRequest(body, person.headers));
    expect([withPasskey.isOvertaken(), describeOutcome(passkey)]).toEqual([true, "400 passkey_refused"]);

    for (const [table, column] of [
      ["agent_tokens", "principal_id"],
      ["passkeys", "user_id"],
    ]) {
      const left = env.DB.prepare(
        `SELECT COUNT(*) AS n FROM ${table} WHERE ${column} IN (SELECT id FROM consumers WHERE email_sealed = '')`,
      );
      expect(await left.first("n")).toBe(0);
    }
  });

  test("leaves no data after concurrent changes, grants, redemptions and a second deletion", async () => {
    const person = await signInPerson();
    const id = (await person.get("/v1/me")).body.data.id as string;
    const grants = await Promise.all([grantShare(person), grantShare(person), grantShare(person, {}, worldInSecondShard.acme)]);
    const responses = await Promise.all([
      remove(person),
      remove(person),
      ...Array.from({ length: 5 }, (_, at) => person.put("/v1/me/fields", { city: `City ${at}` })),
      ...Array.from({ length: 3 }, () => person.post("/v1/share/consent", buildDecision(createVerifier()))),
      ...grants.slice(0, 2).map((grant) => redeemCode(grant)),
    ]);
    expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
    await waitUntilSettled();
    for (const db of databases) {
      const row = await db
        .prepare("SELECT COUNT(*) AS n FROM shares WHERE consumer_id = ? OR (state = 'active' AND id IN (SELECT value FROM json_each(?)))")
        .bind(id, JSON.stringify(grants.map(({ share }) => share.id)))
        .first<{ n: number }>();
      expect(row?.n).toBe(0);
    }
    const row = await env.DB.prepare("SELECT email_sealed, fields_sealed FROM consumers WHERE id = ?").bind(id).first();
    expect(row).toEqual({ email_sealed: "", fields_sealed: null });
    const deleted = await env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type = 'account.deleted'")
      .bind(id)
      .first<{ n: number }>();
    expect(deleted?.n).toBe(1);
  });
});
