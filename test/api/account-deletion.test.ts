// DELETE /v1/me: a person's account ends, and with it everything that says who they were.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { minuteMs } from "../../core/time.ts";
import type { ConsumerId } from "../../core/ids.ts";
import { openDatabase, type Database } from "../../storage/database.ts";
import { maxSweptInRequest, listOverdueShares } from "../../storage/share-sweep.ts";
import type { Vault } from "../../storage/vault.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { copyRow } from "../support/copied-rows.ts";
import { buildJsonRequest, listMailTo, signIn } from "../support/people.ts";
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
import { call, readDatabaseContents, world, worldInSecondShard, type Call } from "../support/world.ts";

const databases = [env.DB, (env as unknown as { DB_01: D1Database }).DB_01];
const remove = ({ headers }: Pick<SignedPerson, "headers">, service: Call = call, body: object | null = { confirm: "DELETE" }) =>
  service("/v1/me", body === null ? { method: "DELETE", headers } : { ...buildJsonRequest(body, headers), method: "DELETE" });
const later = (ms: number): Partial<Platform> => ({ clock: () => Date.now() + ms });
const through =
  (changed: Partial<Platform>): Call =>
  (path, init) =>
    callWith(changed, path, init);

/** What was sealed by the vault, and under which key of a record. */
const recorded = () => {
  const sealed = new Map<string, { readonly text: string; readonly key: string | null }>();
  const { vault } = platform;
  const noting =
    (seal: Vault["seal"], key: string | null): Vault["seal"] =>
    async (context, text) => {
      const value = await seal(context, text);
      sealed.set(value, { text, key });
      return value;
    };
  const recording: Vault = {
    ...vault,
    seal: noting(vault.seal, null),
    withRecordKey: async (key) => {
      const sealer = await vault.withRecordKey(key);
      return { ...sealer, seal: noting(sealer.seal, key) };
    },
  };
  return { sealed, service: through({ vault: recording }) };
};
const everything = async (): Promise<string> => JSON.stringify(await Promise.all(databases.map((db) => readDatabaseContents(db))));

describe("an account that is deleted", () => {
  test("ends every share in every home, tells each business, and signs out", async () => {
    const by = await signInPerson();
    const other = await signIn(by.email, "consumer");
    const shares = [
      await grantShare(by),
      await grantShare(by, { scope: ["name"] }),
      await grantShare(by, { origin: "https://other.example" }, world.other),
      await grantShare(by, {}, worldInSecondShard.acme),
    ];
    const [first, , , far] = shares.map(({ share }) => share.id);
    const stopped = (await grantShare(by)).share.id;
    await by.post(`/v1/me/sever/${stopped}`, { reason: "My number is +1 202 555 0123" });
    const before = (await listMailTo(world.ownerEmail)).length;

    const answer = await remove(by);
    expect(describeOutcome(answer)).toBe("200 ok");
    expect(answer.body.data).toEqual({ deleted: true, shares_revoked: 4, fields_erased: true });
    expect(answer.headers.get("set-cookie")).toMatch(/^svc_session=;/);
    for (const headers of [by.headers, other]) expect((await call("/v1/me", { headers })).status).toBe(401);

    for (const { share } of shares.slice(0, 2)) {
      const kept = (await getWithApiKey(`/v1/shares/${share.id}`)).body.data;
      expect(kept).toMatchObject({ status: "revoked", fingerprint: share.fingerprint, reason: null });
    }
    expect((await getWithApiKey(`/v1/shares/${stopped}`)).body.data).toMatchObject({ status: "revoked", reason: null });
    expect(describeOutcome(await getWithApiKey(`/v1/consumers/${far}/current`, worldInSecondShard.acme.keys.live))).toBe(
      "409 share_inactive",
    );
    expect(describeOutcome(await redeemCode(shares[0] as (typeof shares)[number]))).toBe("409 share_inactive");
    expect(describeOutcome(await postWithApiKey(`/v1/shares/${first}/cease-ack`, {}))).toBe("200 ok");
    expect((await getWithApiKey(`/v1/shares/${first}`)).body.data.status).toBe("ceased");
    const contact = await postWithApiKey("/v1/contact-check", { subjects: [{ email: contactValues.email }] });
    expect(contact.body.data.results[0].basis.map(({ id }: { id: string }) => id)).not.toContain(first);

    await waitUntilSettled();
    const told = (await listAllEvents()).filter(({ type, share_id }) => type === "share.revoked" && [first, stopped].includes(share_id));
    expect(told).toHaveLength(2);
    const mails = (await listMailTo(world.ownerEmail)).slice(0, -before || undefined);
    expect(mails.filter(({ text }) => text.includes(first))).toHaveLength(1);
    expect(mails.find(({ text }) => text.includes(first))?.text).toContain(shares[1]?.share.id);
    expect((await listMailTo(by.email))[0]?.subject).toBe("Your account is deleted");
  });

  test("leaves nothing that opens and says who they were, in any table of any home", async () => {
    const { sealed, service } = recorded();
    const marker = crypto.randomUUID().slice(0, 8);
    const email = `${marker}@example.com`;
    const by = await signInPerson({ ...contactValues, email, first_name: `Name${marker}`, address_line1: `${marker} Street` }, service);
    const id = (await by.get("/v1/me")).body.data.id as string;
    const kept = await grantShare(by, { scope: ["email", "name", "address"], missing_ok: ["address"] });
    const far = await grantShare(by, { scope: ["email", "name"] }, worldInSecondShard.acme);
    await redeemCode(kept, {}, undefined, service);
    await by.put("/v1/me/fields", { last_name: `Last${marker}` });
    await by.post(`/v1/me/sever/${(await grantShare(by)).share.id}`, { reason: `It is ${marker}` });
    await service(`/v1/shares/${(await grantShare(by)).share.id}/revoke`, buildJsonRequest({}, by.headers));
    expect((await by.post("/v1/me/agent-token", { name: `Agent ${marker}` })).status).toBe(201);
    await env.DB.prepare(
      "INSERT INTO passkeys (id, consumer_id, credential_id, user_handle, public_key, counter, transports, backed_up, name_sealed, created_at) VALUES ('psk_x', ?, 'x', 'x', 'x', 0, '[]', 0, ?, 0)",
    )
      .bind(id, by.email)
      .run();
    expect([...sealed.values()].some(({ text }) => text.includes(marker))).toBe(true);

    expect(describeOutcome(await remove(by, service))).toBe("200 ok");
    await waitUntilSettled();
    await listMailTo(by.email); // what a busy machine has left to the minute's cron is sent
    await env.DB.prepare("DELETE FROM captured_mail").run(); // development's own copy of what was sent
    const contents = await everything();
    for (const [value, { text, key }] of sealed) {
      const opens = contents.includes(value) && (key === null || contents.includes(key));
      if (opens) expect(text).not.toMatch(new RegExp(`${marker}|${by.email}`));
    }
    expect(contents).not.toContain(by.email);
    for (const db of databases) {
      const shares = await db.prepare("SELECT COUNT(*) AS n FROM shares WHERE consumer_id = ?").bind(id).first<{ n: number }>();
      expect(shares?.n).toBe(0);
    }
    const row = await env.DB.prepare("SELECT * FROM consumers WHERE id = ?").bind(id).first();
    expect(row).toMatchObject({ email_sealed: "", email_index: `erased ${id}`, name_sealed: null, fields_sealed: null });
    expect((await getWithApiKey(`/v1/shares/${far.share.id}`, worldInSecondShard.acme.keys.live)).body.data.status).toBe("revoked");
  });

  test("makes room for a new one with the same address, which has nothing of the old", async () => {
    const by = await signInPerson();
    const old = (await by.get("/v1/me")).body.data.id;
    await grantShare(by);
    await remove(by);
    const headers = await signIn(by.email, "consumer");
    const profile = (await call("/v1/me", { headers })).body.data;
    expect(profile.id).not.toBe(old);
    expect(profile).toMatchObject({ shares_active: 0, fields_updated_at: null });
    expect((await call("/v1/me/shares", { headers })).body.data.shares).toEqual([]);
  });

  test("a share whose time was over has expired, and was not stopped", async () => {
    const by = await signInPerson();
    const { share } = await grantShare(by, { duration_days: 1 });
    const nextDay = through({ clock: () => Date.now() + 25 * 60 * minuteMs });
    const headers = await signIn(by.email, "consumer");
    await env.DB.prepare("UPDATE sessions SET verified_at = verified_at + ?1, expires_at = expires_at + ?1")
      .bind(25 * 60 * minuteMs)
      .run();
    expect((await remove({ headers }, nextDay)).body.data).toMatchObject({ deleted: true, shares_revoked: 0 });
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.status).toBe("expired");
    expect((await env.DB.prepare("SELECT consumer_id FROM shares WHERE id = ?").bind(share.id).first())?.consumer_id).toBeNull();
  });

  test("more shares whose time was over than are swept at once: all have expired before the person is forgotten", async () => {
    const by = await signInPerson();
    const { share } = await grantShare(by, { duration_days: 1 });
    const count = maxSweptInRequest + 600; // the first sweep leaves more than one look at what is left finds
    const over = Date.now() - minuteMs;
    await copyRow("shares", share.id, count, { expires_at: `${over}`, next_due_at: `${over}` });
    await by.post(`/v1/me/sever/${share.id}`, {}); // so that nothing is left to end
    const id = (await by.get("/v1/me")).body.data.id as ConsumerId;
    expect(await listOverdueShares(openDatabase(env.DB), id, Date.now())).toHaveLength(maxSweptInRequest);

    expect((await remove(by)).body.data).toMatchObject({ deleted: true, shares_revoked: 0 });
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

describe("what deleting an account asks for", () => {
  test("a proof of the last five minutes, whatever the session", async () => {
    const by = await signInPerson();
    await grantShare(by);
    const before = await readDatabaseContents();
    expect(describeOutcome(await remove(by, through(later(5 * minuteMs))))).toBe("403 forbidden");
    expect(describeOutcome(await remove(by, call, { confirm: "yes" }))).toBe("400 invalid_request");
    expect(describeOutcome(await remove({ headers: { ...by.headers, origin: "https://elsewhere.example" } as never }))).toBe(
      "403 csrf_failed",
    );
    expect(await readDatabaseContents()).toEqual(before);
    expect(describeOutcome(await remove(by, through(later(4 * minuteMs)), null))).toBe("200 ok");
  });
});

describe("an erasure that is interrupted or raced", () => {
  test("a home that is away: 503, nothing more can be granted, and the rest is erased by itself", async () => {
    const by = await signInPerson();
    const near = await grantShare(by);
    const far = await grantShare(by, {}, worldInSecondShard.acme);
    const id = (await by.get("/v1/me")).body.data.id as string;
    const away = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const { shards } = platform;
    const halved = through({ shards: { ...shards, get: (home) => (home === "01" ? away : shards.get(home)) } });
    expect(describeOutcome(await remove(by, halved))).toBe("503 storage_unavailable");
    expect((await getWithApiKey(`/v1/shares/${far.share.id}`, worldInSecondShard.acme.keys.live)).body.data.status).toBe("active");
    expect((await by.put("/v1/me/fields", { city: "Elsewhere" })).status).toBe(401);
    await expect(grantShare(by)).rejects.toThrow("not granted");

    await settleShares({ ...platform, clock: () => Date.now() + 2 * minuteMs });
    for (const [share, key] of [
      [near.share.id, world.acme.keys.live],
      [far.share.id, worldInSecondShard.acme.keys.live],
    ]) {
      expect((await getWithApiKey(`/v1/shares/${share}`, key)).body.data.status).toBe("revoked");
    }
    expect((await env.DB.prepare("SELECT email_sealed FROM consumers WHERE id = ?").bind(id).first())?.email_sealed).toBe("");
    expect((await env.DB.prepare("SELECT COUNT(*) AS n FROM account_erasures").first<{ n: number }>())?.n).toBe(0);
    expect((await by.get("/v1/me")).status).toBe(401);
  });

  test("a grant in another home that was under way is ended, and forgets them too", async () => {
    const by = await signInPerson();
    const id = (await by.get("/v1/me")).body.data.id as string;
    const { shards } = platform;
    const second = shards.forId("con_01") as Database;
    let isArmed = true;
    const overtaken = new Proxy(second, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        if (name !== "batch") return typeof value === "function" ? value.bind(target) : value;
        return async (statements: readonly unknown[]) => {
          const isGrant = isArmed && statements.length > 4;
          if (isGrant) isArmed = false;
          if (isGrant) expect(describeOutcome(await remove(by))).toBe("200 ok");
          return target.batch(statements as never);
        };
      },
    });
    const service = through({ shards: { ...shards, forId: (of) => (shards.forId(of) === second ? overtaken : shards.forId(of)) } });
    const answer = await service(
      "/v1/share/consent",
      buildJsonRequest(buildDecision(createVerifier(), {}, worldInSecondShard.acme), by.headers),
    );
    expect(isArmed).toBe(false);
    expect(answer.status).toBe(201);
    const rows = await (databases[1] as D1Database)
      .prepare("SELECT state, consumer_id, subject_sealed, email_index FROM shares WHERE id = ?")
      .bind(answer.body.data.share.id)
      .first();
    expect(rows).toEqual({ state: "revoked", consumer_id: null, subject_sealed: null, email_index: null });
    const mine = await (databases[1] as D1Database)
      .prepare("SELECT COUNT(*) AS n FROM mail_outbox WHERE consumer_id = ?")
      .bind(id)
      .first<{ n: number }>();
    expect(mine?.n).toBe(0);
  });

  test("changes, grants, redemptions and a second deletion at once: nothing is left afterwards", async () => {
    const by = await signInPerson();
    const id = (await by.get("/v1/me")).body.data.id as string;
    const made = await Promise.all([grantShare(by), grantShare(by), grantShare(by, {}, worldInSecondShard.acme)]);
    const answers = await Promise.all([
      remove(by),
      remove(by),
      ...Array.from({ length: 5 }, (_, at) => by.put("/v1/me/fields", { city: `City ${at}` })),
      ...Array.from({ length: 3 }, () => by.post("/v1/share/consent", buildDecision(createVerifier()))),
      ...made.slice(0, 2).map((one) => redeemCode(one)),
    ]);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    await waitUntilSettled();
    for (const db of databases) {
      const row = await db
        .prepare("SELECT COUNT(*) AS n FROM shares WHERE consumer_id = ? OR (state = 'active' AND id IN (SELECT value FROM json_each(?)))")
        .bind(id, JSON.stringify(made.map(({ share }) => share.id)))
        .first<{ n: number }>();
      expect(row?.n).toBe(0);
    }
    const row = await env.DB.prepare("SELECT email_sealed, fields_sealed FROM consumers WHERE id = ?").bind(id).first();
    expect(row).toEqual({ email_sealed: "", fields_sealed: null });
    const deleted = await env.DB.prepare("SELECT COUNT(*) AS n FROM audit_outbox WHERE entity_id = ? AND type = 'account.deleted'")
      .bind(id)
      .first<{ n: number }>();
    expect(deleted?.n).toBe(1);
  });
});
