// Tests a person and a business in different shards. No batch spans both shards. If the process dies between the two writes, the state is
// repaired later.
import { toStoredIndex } from "../../core/access/address-index.ts";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { dayMs, minuteMs } from "../../core/time.ts";
import { backgroundTimeoutMs } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import { sweepDueShares } from "../../workers/background/share-sweep.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { callWith } from "../support/scenarios.ts";
import { runOutboxRelay, waitUntilSettled } from "../support/background-work.ts";
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
import { origin, world, worldInSecondShard } from "../support/world.ts";
import { buildJsonPost } from "../support/withdrawal.ts";

const otherBusiness = worldInSecondShard.acme;
const base = await getPlatform(env);
const createPlatformAt = (now: number): Platform => Object.assign(Object.create(base) as Platform, { clock: () => now });
const settleAfterMinute = async (): Promise<void> => {
  await waitUntilSettled();
  await settleShares(createPlatformAt(Date.now() + 2 * minuteMs));
  await runOutboxRelay();
  await waitUntilSettled();
};
const otherClient = { client_id: otherBusiness.clients.live };
const grantThere = (pat: SignedPerson, change: object = {}) => grantShare(pat, change, otherBusiness);
const readCurrentFields = async (id: string) =>
  (await getWithApiKey(`/v1/consumers/${id}/current`, otherBusiness.keys.live)).body.data?.fields;
const listEventTypes = async (id: string): Promise<string[]> =>
  (await listAllEvents(otherBusiness.keys.live)).filter(({ share_id }) => share_id === id).map(({ type }) => type);
const countWaiting = async (table: "share_intents" | "field_fanouts"): Promise<number> =>
  (await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table}`).first("n")) as number;
const readPersonId = async (pat: SignedPerson): Promise<string> => (await pat.get("/v1/me")).body.data.id;

/** Wraps the database of the second shard so that every batch fails, either before or after it is written. */
const createDyingDatabase = (dies: "before" | "after"): D1Database =>
  new Proxy(env.DB_01, {
    get: (db, name) => {
      const value = Reflect.get(db, name);
      if (name === "withSession") return () => createDyingDatabase(dies);
      if (name === "batch")
        return async (statements: D1PreparedStatement[]) => {
          if (dies === "after") await db.batch(statements);
          throw new Error("D1_ERROR: the isolate is gone");
        };
      return typeof value === "function" ? value.bind(db) : value;
    },
  });
/** Wraps a database and runs `act` before its next statement of this kind. */
const createOvertakenDatabase = (db: D1Database, kind: { readonly text: string } | "batch", act: () => Promise<unknown>): D1Database => {
  let isOver = false;
  const actOnce = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await act();
  };
  const watchStatement = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get: (target, name) => {
        if (name === "bind") return (...bound: unknown[]) => watchStatement(target.bind(...bound));
        const value = Reflect.get(target, name);
        return typeof value === "function" ? (...rest: unknown[]) => actOnce().then(() => value.apply(target, rest)) : value;
      },
    });
  return new Proxy(db, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name === "prepare" && kind !== "batch")
        return (sql: string) => (sql.includes(kind.text) ? watchStatement(target.prepare(sql)) : target.prepare(sql));
      if (name === "batch" && kind === "batch")
        return (statements: D1PreparedStatement[]) => actOnce().then(() => target.batch(statements));
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
};
/** Settles shares in an isolate with these databases, as if two minutes had passed. */
const settleWith = (databases: { readonly DB?: D1Database; readonly DB_01?: D1Database }): Promise<void> =>
  settleShares(
    Object.assign(createPlatformAt(Date.now() + 2 * minuteMs), {
      shards: openShards({ DB: env.DB, DB_01: env.DB_01, ...databases }, backgroundTimeoutMs),
    }),
  );
/** Sends a request to an isolate whose second shard is this database. */
const callWithDatabase = (db: D1Database, path: string, init: RequestInit) =>
  callWith({ shards: openShards({ DB: env.DB, DB_01: db }) }, path, init);

describe("a share in a different shard from its person", () => {
  test("is granted, redeemed, updated, renewed and revoked, and is listed with the person's other shares", async () => {
    const pat = await signInPerson();
    const near = await grantShare(pat);
    const far = await grantThere(pat);
    expect(far.share.id).toMatch(/^shr_01/);
    expect(await readPersonId(pat)).toMatch(/^con_00/);
    expect(describeOutcome(await redeemCode(far))).toBe("400 code_invalid"); // this client belongs to a business in shard 00
    const redeemed = await redeemCode(far, otherClient);
    expect(redeemed.body.data).toMatchObject({
      fields: { email: contactValues.email, phone: contactValues.phone },
      business_id: otherBusiness.id,
    });
    expect(await countWaiting("share_intents")).toBe(0);

    await pat.put("/v1/me/fields", { phone: "+1 202 555 0177", first_name: "Patricia" });
    await waitUntilSettled();
    expect(await countWaiting("field_fanouts")).toBe(0);
    expect(await readCurrentFields(far.share.id)).toMatchObject({ phone: "+1 202 555 0177" });
    const events = (await listAllEvents(otherBusiness.keys.live)).filter(({ share_id }) => share_id === far.share.id);
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["share.created", null],
      ["consumer.updated.phone", { phone: "+1 202 555 0177" }],
    ]);

    const list = (await pat.get("/v1/me/shares")).body.data.shares;
    expect(new Set(list.map(({ id }: { id: string }) => id))).toEqual(new Set([near.share.id, far.share.id]));
    expect((await pat.get("/v1/me")).body.data.shares_active).toBe(2);
    const renewed = (await pat.post(`/v1/me/shares/${far.share.id}/renew`, { consent: true })).body.data.share;
    expect(renewed.id).toMatch(/^shr_01/);
    expect(describeOutcome(await pat.post(`/v1/shares/${renewed.id}/revoke`, {}))).toBe("200 ok");
    expect(describeOutcome(await getWithApiKey(`/v1/consumers/${renewed.id}/current`, otherBusiness.keys.live))).toBe("409 share_inactive");
    expect(describeOutcome(await postWithApiKey(`/v1/shares/${renewed.id}/cease-ack`, {}, otherBusiness.keys.live))).toBe("200 ok");
    await waitUntilSettled();
    expect(await listEventTypes(renewed.id)).toEqual(["share.renewed", "share.revoked", "business.ceased"]);
    expect(describeOutcome(await getWithApiKey(`/v1/shares/${far.share.id}`, world.acme.keys.live))).toBe("404 not_found");
  });

  test("gets its warning and expires in the sweep of its own shard, with an email to the person", async () => {
    const pat = await signInPerson();
    const { share } = await grantThere(pat, { duration_days: 5 });
    for (const now of [Date.parse(share.expires_at) - dayMs, Date.parse(share.expires_at)]) {
      await sweepDueShares(createPlatformAt(now));
      await waitUntilSettled();
    }
    expect(await listEventTypes(share.id)).toEqual(["share.created", "share.expiring", "share.expired"]);
  });

  test("is never missing from the person's list: the list fails during an outage", async () => {
    const pat = await signInPerson();
    const { share } = await grantThere(pat);
    const unavailableDatabase = new Proxy(env.DB_01, {
      get: () => () => {
        throw new Error("D1_ERROR: away");
      },
    });
    expect(describeOutcome(await callWithDatabase(unavailableDatabase, "/v1/me/shares", { headers: pat.headers }))).toBe(
      "503 storage_unavailable",
    );
    expect((await pat.get("/v1/me/shares")).body.data.shares.map(({ id }: { id: string }) => id)).toEqual([share.id]);
  });

  test("is granted once when one request is submitted 20 times at once", async () => {
    const pat = await signInPerson();
    const verifier = createVerifier();
    const decision = buildDecision(verifier, {}, otherBusiness);
    const query = new URLSearchParams({
      client_id: decision.client_id,
      origin,
      scope: "email phone",
      purpose: decision.purpose,
      code_challenge: decision.code_challenge,
      code_challenge_method: "S256",
    });
    const token = (await getWithApiKey(`/v1/authorize?${query}`)).body.data.authorize_token;
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => pat.post("/v1/share/consent", { ...decision, authorize_token: token })),
    );
    expect(new Set(responses.map(describeOutcome))).toEqual(new Set(["201 ok"]));
    expect(new Set(responses.map(({ body }) => body.data.share.id)).size).toBe(1);
    await settleAfterMinute();
    expect(await countWaiting("share_intents")).toBe(0);
    expect(await listEventTypes(responses[0]?.body.data.share.id)).toEqual(["share.created"]);
  });
});

describe("a grant whose isolate dies", () => {
  const buildConsent = (pat: SignedPerson) => buildJsonPost(buildDecision(createVerifier(), {}, otherBusiness), pat.headers);

  test("between the intent and the share leaves an intent, which the cron job deletes", async () => {
    const pat = await signInPerson();
    const response = await callWithDatabase(createDyingDatabase("before"), "/v1/share/consent", buildConsent(pat));
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(await countWaiting("share_intents")).toBe(1);
    expect((await pat.get("/v1/me/shares")).body.data.shares).toEqual([]);
    await settleShares(base); // a grant has one minute to finish, so nothing is deleted yet
    expect(await countWaiting("share_intents")).toBe(1);
    await settleAfterMinute();
    expect(await countWaiting("share_intents")).toBe(0);
    expect(await countWaiting("field_fanouts")).toBe(0);
  });

  test("between the share and the end of its grant leaves a share, which the cron job completes", async () => {
    const pat = await signInPerson();
    await callWithDatabase(createDyingDatabase("after"), "/v1/share/consent", buildConsent(pat));
    expect(await countWaiting("share_intents")).toBe(1);
    const [share] = (await pat.get("/v1/me/shares")).body.data.shares;
    expect(share).toMatchObject({ status: "active" });
    await env.DB.exec("CREATE TRIGGER no_fan_out BEFORE INSERT ON field_fanouts BEGIN SELECT RAISE(IGNORE); END"); // as if this change did not see the new share yet
    await pat.put("/v1/me/fields", { phone: "+1 202 555 0166" });
    await env.DB.exec("DROP TRIGGER no_fan_out");
    await waitUntilSettled();
    expect(await readCurrentFields(share.id)).toMatchObject({ phone: contactValues.phone });
    await settleAfterMinute();
    await waitUntilSettled();
    expect([await countWaiting("share_intents"), await countWaiting("field_fanouts")]).toEqual([0, 0]);
    expect(await readCurrentFields(share.id)).toMatchObject({ phone: "+1 202 555 0166" });
  });

  test("of a person whose account is deleted in the meantime is revoked by the cron job", async () => {
    const pat = await signInPerson();
    const id = await readPersonId(pat);
    await callWithDatabase(createDyingDatabase("after"), "/v1/share/consent", buildConsent(pat));
    const [share] = (await pat.get("/v1/me/shares")).body.data.shares;
    await env.DB.prepare("UPDATE consumers SET erased_at = ? WHERE id = ?").bind(Date.now(), id).run();
    await settleAfterMinute();
    expect(await countWaiting("share_intents")).toBe(0);
    expect(describeOutcome(await getWithApiKey(`/v1/consumers/${share.id}/current`, otherBusiness.keys.live))).toBe("409 share_inactive");
    expect(await listEventTypes(share.id)).toEqual(["share.created", "share.revoked"]);
  });
});

describe("field changes while the other shard does not respond", () => {
  test("wait and are sent as one event with the values at that time", async () => {
    const pat = await signInPerson();
    const { share } = await grantThere(pat);
    for (const phone of ["+1 202 555 0151", "+1 202 555 0152"])
      await callWithDatabase(createDyingDatabase("before"), "/v1/me/fields", { ...buildJsonPost({ phone }, pat.headers), method: "PUT" });
    await callWithDatabase(createDyingDatabase("before"), "/v1/me/fields", {
      ...buildJsonPost({ email: "new@example.com" }, pat.headers),
      method: "PUT",
    });
    expect(await countWaiting("field_fanouts")).toBe(1);
    expect(await readCurrentFields(share.id)).toMatchObject({ phone: contactValues.phone });
    await settleAfterMinute();
    expect(await countWaiting("field_fanouts")).toBe(0);
    const events = (await listAllEvents(otherBusiness.keys.live)).filter(
      ({ share_id, type }) => share_id === share.id && type.startsWith("consumer."),
    );
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["consumer.updated.email", { email: "new@example.com" }],
      ["consumer.updated.phone", { phone: "+1 202 555 0152" }],
    ]);
    await settleAfterMinute();
    expect(await listEventTypes(share.id)).toHaveLength(3);
  });

  test("reach no share that was revoked in the meantime", async () => {
    const pat = await signInPerson();
    const { share } = await grantThere(pat);
    await callWithDatabase(createDyingDatabase("before"), "/v1/me/fields", {
      ...buildJsonPost({ phone: "+1 202 555 0153" }, pat.headers),
      method: "PUT",
    });
    await pat.post(`/v1/shares/${share.id}/revoke`, {});
    await settleAfterMinute();
    expect(await countWaiting("field_fanouts")).toBe(0);
    expect(await listEventTypes(share.id)).toEqual(["share.created", "share.revoked"]);
  });

  test("are both sent, the later one last, when one overtakes another", async () => {
    const pat = await signInPerson();
    const { share } = await grantThere(pat, { scope: ["phone", "name"] });
    const change = (fields: object) =>
      callWithDatabase(createDyingDatabase("before"), "/v1/me/fields", { ...buildJsonPost(fields, pat.headers), method: "PUT" });
    await change({ phone: "+1 202 555 0154" });
    await settleWith({ DB: createOvertakenDatabase(env.DB, { text: "fields_sealed" }, () => change({ first_name: "Patricia" })) });
    await settleAfterMinute();
    expect(await countWaiting("field_fanouts")).toBe(0);
    expect(await readCurrentFields(share.id)).toMatchObject({ phone: "+1 202 555 0154", first_name: "Patricia" });
    expect(await listEventTypes(share.id)).toEqual(["share.created", "consumer.updated.phone", "consumer.updated.name"]);
  });

  test("leave the share under the later address when they arrive in the wrong order", async () => {
    const pat = await signInPerson();
    const { share } = await grantThere(pat);
    const change = { email: "first@example.com" };
    await callWithDatabase(createDyingDatabase("before"), "/v1/me/fields", { ...buildJsonPost(change, pat.headers), method: "PUT" });
    const updateEmailLater = async () => {
      await pat.put("/v1/me/fields", { email: "second@example.com" });
      await waitUntilSettled();
    };
    await settleWith({ DB_01: createOvertakenDatabase(env.DB_01, "batch", updateEmailLater) });
    await settleAfterMinute();
    expect(await readCurrentFields(share.id)).toMatchObject({ email: "second@example.com" });
    const isFoundByEmail = (email: string) =>
      env.DB_01.prepare("SELECT email_index FROM shares WHERE id = ?")
        .bind(share.id)
        .first("email_index")
        .then(async (index) => index === toStoredIndex(await base.vault.blindIndex("email", email)));
    expect([await isFoundByEmail("first@example.com"), await isFoundByEmail("second@example.com")]).toEqual([false, true]);
  });

  test("of a person with an earlier grant contain only the fields that have changed since", async () => {
    const pat = await signInPerson();
    await callWithDatabase(
      createDyingDatabase("after"),
      "/v1/share/consent",
      buildJsonPost(buildDecision(createVerifier(), {}, otherBusiness), pat.headers),
    );
    const [share] = (await pat.get("/v1/me/shares")).body.data.shares;
    await env.DB.prepare("DELETE FROM consumer_shards WHERE shard = '01'").run(); // as if the shard were recorded only after this change
    await pat.put("/v1/me/fields", { phone: "+1 202 555 0155" });
    await waitUntilSettled();
    await settleAfterMinute();
    expect(await readCurrentFields(share.id)).toMatchObject({ phone: "+1 202 555 0155" });
    expect(await listEventTypes(share.id)).toEqual(["share.created", "consumer.updated.phone"]);
  });
});
