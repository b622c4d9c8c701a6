// Tests how a page, a server with a test key, and a member use the sandbox: the share protocol with a test client, the sandbox clock, and
// triggered events. No sandbox event reaches the live feed or a live endpoint.
import { env } from "cloudflare:workers";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { getEventSequenceName } from "../../core/events/event-sequence-name.ts";
import { sweepDueShares } from "../../workers/background/share-sweep.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { buildJsonRequest, signIn } from "../support/people.ts";
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
  type Grant,
} from "../support/sharing.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { call, issueCertificate, world } from "../support/world.ts";

const testKey = world.acme.keys.sandbox;
const clientId = world.acme.clients.sandbox;
const dayMs = 86_400_000;

const grantTestShare = async (change: object = {}): Promise<Grant> => {
  const verifier = createVerifier();
  const response = await call("/v1/share/sandbox-consent", buildJsonRequest(buildDecision(verifier, { client_id: clientId, ...change })));
  if (response.status !== 201) throw new Error(`not granted: ${response.text}`);
  return { verifier, code: response.body.data.code, share: response.body.data.share };
};
const trigger = (body: object, key = testKey) => postWithApiKey("/v1/sandbox/trigger", body, key);
const move = (body: object, key = testKey) => postWithApiKey("/v1/sandbox/clock", body, key);
const reset = () => postWithApiKey("/v1/sandbox/reset", {}, testKey);
const share = async (id: string) => (await getWithApiKey(`/v1/shares/${id}`, testKey)).body.data;
const listEvents = async (id: string) => {
  await waitUntilSettled();
  return (await listAllEvents(testKey)).filter(({ share_id, cert_id }) => [share_id, cert_id].includes(id));
};

beforeEach(async () => {
  await waitUntilSettled();
  vi.setSystemTime(Date.now() + 61_000); // starts a new minute, which resets the business's rate limit
  expect((await reset()).status).toBe(200);
});
afterAll(async () => {
  await waitUntilSettled();
  vi.useRealTimers();
});

describe("a test share", () => {
  test("can contain an address without a second line, but no other field without a value", async () => {
    const granted = await grantTestShare({ scope: ["name", "address"] });
    const { fields } = (await redeemCode(granted, { client_id: clientId })).body.data;
    expect(fields).toMatchObject({ address_line1: "1 Test St", address_line2: null, zip: "94000", first_name: "Sandy" });
    for (const change of [{ scope: ["address_line2"] }, { scope: ["address"], persona: "minimal" }])
      await expect(grantTestShare(change)).rejects.toThrow("scope: must contain only fields with a value.");
  });

  test("goes from grant to end like a live one, with its events in the sandbox's own sequence", async () => {
    const granted = await grantTestShare({ state: "xyz" });
    expect(granted.share).toMatchObject({ status: "active", environment: "sandbox", client_id: clientId, business: { id: world.acme.id } });
    const redeemed = await redeemCode(granted, { client_id: clientId });
    expect(redeemed.body.data.fields).toEqual({ email: "sandbox@example.com", phone: "+12025550123" });
    expect(describeOutcome(await redeemCode(granted, { client_id: clientId }))).toBe("409 code_used");
    const { id } = granted.share;
    expect((await getWithApiKey(`/v1/consumers/${id}/current`, testKey)).body.data.fields.email).toBe("sandbox@example.com");

    const changed = await trigger({ type: "consumer.updated.email", share_id: id, fields: { email: "new@example.com" } });
    expect(changed.body.data).toMatchObject({
      environment: "sandbox",
      share: { id, status: "active" },
      event: { type: "consumer.updated.email", share_id: id, data: { email: "new@example.com" } },
    });
    expect((await getWithApiKey(`/v1/consumers/${id}/current`, testKey)).body.data.fields.email).toBe("new@example.com");

    const renewed = (await trigger({ type: "share.renewed", share_id: id })).body.data;
    expect(renewed.share).toMatchObject({ status: "active", supersedes: id, environment: "sandbox" });
    expect(await share(id)).toMatchObject({ status: "superseded", superseded_by: renewed.share.id });
    expect((await getWithApiKey(`/v1/consumers/${renewed.share.id}/current`, testKey)).body.data.fields.email).toBe("new@example.com");

    const stopped = (await trigger({ type: "share.revoked", share_id: renewed.share.id })).body.data;
    expect(stopped.share).toMatchObject({ status: "revoked", cease: { status: "open", overdue: false } });
    expect(describeOutcome(await getWithApiKey(`/v1/consumers/${renewed.share.id}/current`, testKey))).toBe("409 share_inactive");
    const ceased = await postWithApiKey(`/v1/shares/${renewed.share.id}/cease-ack`, { note: "Done" }, testKey);
    expect(ceased.body.data).toMatchObject({ on_time: true, share: { status: "ceased" } });

    expect((await listEvents(id)).map(({ type, data }) => [type, data])).toEqual([
      ["share.created", null],
      ["consumer.updated.email", null], // the payload is withheld because the share has ended
    ]);
    expect((await listEvents(renewed.share.id)).map(({ type }) => type)).toEqual(["share.renewed", "share.revoked", "business.ceased"]);
  });

  test("is in an event sequence from 1 without gaps, together with sandbox certificates", async () => {
    const { share: created } = await grantTestShare();
    const certificate = await issueCertificate({ client_id: clientId });
    await postWithApiKey(
      `/v1/certs/${certificate.cert_id}/withdrawals`,
      { method: "phone", received_at: new Date().toISOString() },
      testKey,
    );
    expect((await listEvents(created.id)).map(({ type }) => type)).toEqual(["share.created"]);
    expect((await listEvents(certificate.cert_id)).map(({ type }) => type)).toEqual(["certificate.revoked"]);
    const events = await listAllEvents(testKey);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect((await getWithApiKey("/v1/events?limit=1", testKey)).body.data.head).toBe(events.length);
    const log = env.EVENT_SEQUENCE.getByName(getEventSequenceName(world.acme.id, "sandbox"));
    expect((await log.listEvents(0, 500, null)).head).toBe(events.length);
  });
});

describe("separation of sandbox and live", () => {
  test("keeps sandbox events out of the live feed, and live events out of the sandbox feed", async () => {
    const before = (await getWithApiKey("/v1/events", world.acme.keys.live)).body.data.head;
    const certificate = await issueCertificate({ client_id: clientId });
    await postWithApiKey(
      `/v1/certs/${certificate.cert_id}/withdrawals`,
      { method: "phone", received_at: new Date().toISOString() },
      testKey,
    );
    for (const type of ["share.created", "share.renewed", "share.revoked", "business.ceased", "consumer.updated.name"])
      expect((await trigger({ type })).status).toBe(200);
    for (const type of ["share.expiring", "share.expired"]) expect((await trigger({ type })).status).toBe(200);
    await waitUntilSettled();
    expect((await getWithApiKey("/v1/events", world.acme.keys.live)).body.data.head).toBe(before);
    const sandboxHead = (await getWithApiKey("/v1/events", testKey)).body.data.head;
    const pat = await signInPerson();
    const live = await grantShare(pat);
    await pat.put("/v1/me/fields", { phone: "+1 202 555 0177" });
    await pat.post(`/v1/shares/${live.share.id}/revoke`, {});
    await waitUntilSettled();
    expect((await getWithApiKey("/v1/events", testKey)).body.data.head).toBe(sandboxHead);
    expect((await getWithApiKey("/v1/events", world.acme.keys.live)).body.data.head).toBe(before + 3);
  });

  test("keeps live shares independent of the sandbox clock", async () => {
    const pat = await signInPerson();
    const { share: live } = await grantShare(pat, { duration_days: 5 });
    expect((await move({ advance_seconds: 30 * 86_400 })).status).toBe(200);
    await sweepDueShares(await getPlatform(env));
    expect((await getWithApiKey(`/v1/shares/${live.id}`)).body.data.status).toBe("active");
    expect((await getWithApiKey("/v1/shares?status=active")).body.data.shares.map(({ id }: { id: string }) => id)).toContain(live.id);
    expect((await getWithApiKey(`/v1/consumers/${live.id}/current`)).body.data.fields.email).toBe(contactValues.email);
  });

  test("applies the sandbox clock to contact checks of test shares, even before a sweep", async () => {
    const { share: created } = await grantTestShare({ duration_days: 5, scope: ["email"], purpose: "a check by its own clock" });
    const check = { subjects: [{ email: "sandbox@example.com" }], purpose: created.purpose };
    const readReason = async () => (await postWithApiKey("/v1/contact-check", check, testKey)).body.data.results[0].reason;
    expect(await readReason()).toBe("active_consent");
    await env.DB.prepare("INSERT INTO sandbox_clocks (business_id, offset_ms, moved_at) VALUES (?, ?, ?)")
      .bind(world.acme.id, 6 * dayMs, Date.now())
      .run();
    expect(await readReason()).toBe("expired");
  });

  test("refuses live keys on sandbox routes with 403 sandbox_only, and live shares in triggers with 404", async () => {
    const live = world.acme.keys.live;
    for (const response of [
      await getWithApiKey("/v1/sandbox/clock", live),
      await move({ advance_seconds: 60 }, live),
      await trigger({ type: "share.created" }, live),
      await postWithApiKey("/v1/sandbox/reset", {}, live),
    ])
      expect(describeOutcome(response)).toBe("403 sandbox_only");
    const pat = await signInPerson();
    const { share: liveShare } = await grantShare(pat);
    expect(describeOutcome(await trigger({ type: "share.revoked", share_id: liveShare.id }))).toBe("404 not_found");
    expect(describeOutcome(await trigger({ type: "consumer.updated.email", share_id: liveShare.id }))).toBe("404 not_found");
    expect((await getWithApiKey(`/v1/shares/${liveShare.id}`)).body.data.status).toBe("active");
  });
});

describe("a webhook endpoint of the sandbox", () => {
  test("receives sandbox events only, and a live endpoint live events only", async () => {
    const owner = await signIn(world.ownerEmail);
    const register = async (environment?: string) =>
      (
        await call(
          "/v1/webhooks",
          buildJsonRequest({ url: `https://hooks.example.com/${crypto.randomUUID()}`, ...(environment && { environment }) }, owner),
        )
      ).body.data;
    const [live, test] = [await register(), await register("sandbox")];
    expect([live.environment, test.environment]).toEqual(["live", "sandbox"]);
    try {
      await trigger({ type: "share.created" });
      await waitUntilSettled();
      const listDeliveries = async (id: string) => (await call(`/v1/webhooks/${id}/deliveries`, { headers: owner })).body.data.deliveries;
      expect((await listDeliveries(test.id)).map(({ event_type }: { event_type: string }) => event_type)).toEqual(["share.created"]);
      expect(await listDeliveries(live.id)).toEqual([]);
      await grantShare(await signInPerson());
      await waitUntilSettled();
      expect(await listDeliveries(test.id)).toHaveLength(1);
      expect(await listDeliveries(live.id)).toHaveLength(1);
      const listed = (await call("/v1/webhooks", { headers: owner })).body.data.webhooks;
      expect(listed.map(({ id, environment }: { id: string; environment: string }) => [id, environment])).toEqual(
        expect.arrayContaining([
          [live.id, "live"],
          [test.id, "sandbox"],
        ]),
      );
      const [delivery] = await listDeliveries(test.id);
      const post = (path: string) => call(path, buildJsonRequest({}, owner));
      expect((await post(`/v1/webhooks/${test.id}/test`)).status).toBe(200);
      expect((await post(`/v1/webhooks/deliveries/${delivery.id}/replay`)).status).toBe(200);
      expect((await post(`/v1/webhooks/${test.id}/rotate-secret`)).body.data.id).toBe(test.id);
      expect((await call(`/v1/webhooks/${test.id}/secret`, { headers: owner })).body.data.id).toBe(test.id);
      const changed = await call(`/v1/webhooks/${test.id}`, {
        ...buildJsonRequest({ environment: "live", description: "Trial" }, owner),
        method: "PATCH",
      });
      expect(changed.body.data).toMatchObject({ environment: "sandbox", description: "Trial" });
    } finally {
      for (const { id } of [live, test]) {
        const gone = await call(`/v1/webhooks/${id}`, { headers: owner, method: "DELETE" });
        expect(gone.status).toBe(200);
      }
    }
  });
});

describe("events that anyone with the test client's ID can cause", () => {
  test("go to the three oldest endpoints that select them, and all other events to every endpoint", async () => {
    const owner = await signIn(world.ownerEmail);
    const register = async (events: readonly string[] | null): Promise<string> => {
      const url = `https://hooks.example.com/${crypto.randomUUID()}`;
      return (await call("/v1/webhooks", buildJsonRequest({ url, environment: "sandbox", events }, owner))).body.data.id;
    };
    const ids: string[] = [await register(["share.revoked"])];
    for (let n = 0; n < 5; n += 1) ids.push(await register(null));
    try {
      const { share: created } = await grantTestShare();
      await waitUntilSettled();
      await trigger({ type: "share.revoked", share_id: created.id });
      await waitUntilSettled();
      const listTypes = async (id: string): Promise<readonly string[]> => {
        const { deliveries } = (await call(`/v1/webhooks/${id}/deliveries`, { headers: owner })).body.data;
        return deliveries.map(({ event_type }: { event_type: string }) => event_type).toReversed();
      };
      const both = ["share.created", "share.revoked"];
      expect(await Promise.all(ids.map(listTypes))).toEqual([["share.revoked"], both, both, both, ["share.revoked"], ["share.revoked"]]);
    } finally {
      for (const id of ids) await call(`/v1/webhooks/${id}`, { headers: owner, method: "DELETE" });
    }
  });
});

describe("POST /v1/sandbox/clock", () => {
  test.each(["with", "without"])("adds up the seconds of concurrent requests %s idempotency keys", async (withKeys) => {
    const buildHeaders = () => ({
      authorization: `Bearer ${testKey}`,
      ...(withKeys === "with" && { "idempotency-key": crypto.randomUUID() }),
    });
    const moves = await Promise.all(
      [1, 2, 3].map(() => call("/v1/sandbox/clock", buildJsonRequest({ advance_seconds: 3_600 }, buildHeaders()))),
    );
    expect(moves.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await getWithApiKey("/v1/sandbox/clock", testKey)).body.data.offset_seconds).toBe(3 * 3_600);
  });

  test("warns about shares and expires them, and later changes follow the new time", async () => {
    const { share: created } = await grantTestShare({ duration_days: 30 });
    const moved = await move({ advance_seconds: 24 * 86_400 });
    expect(moved.body.data).toMatchObject({ environment: "sandbox", offset_seconds: 24 * 86_400, swept: 1 });
    expect((await listEvents(created.id)).map(({ type }) => type)).toEqual(["share.created", "share.expiring"]);
    const [, warned] = await listEvents(created.id);
    expect(Date.parse(warned.created_at) - Date.now()).toBeGreaterThan(23 * dayMs);
    const laterGrant = await grantTestShare({ duration_days: 1 });
    expect(Date.parse(laterGrant.share.created_at) - Date.now()).toBeGreaterThan(23 * dayMs);
    expect((await redeemCode(laterGrant, { client_id: clientId })).status).toBe(200); // codes expire by real time, not by the sandbox clock
    await move({ to: created.expires_at });
    expect(await share(created.id)).toMatchObject({ status: "expired", expired_at: created.expires_at });
    expect(await share(laterGrant.share.id)).toMatchObject({ status: "expired" });
    expect((await getWithApiKey("/v1/shares?status=active", testKey)).body.data.shares).toEqual([]);
    expect((await listEvents(created.id)).map(({ type }) => type)).toEqual(["share.created", "share.expiring", "share.expired"]);
  });

  test("ends access at the exact time, even before a sweep", async () => {
    const granted = await grantTestShare({ duration_days: 1 });
    await env.DB.prepare("INSERT INTO sandbox_clocks VALUES (?, ?, 0)").bind(world.acme.id, dayMs).run();
    expect(describeOutcome(await redeemCode(granted, { client_id: clientId }))).toBe("409 share_inactive");
    expect(describeOutcome(await getWithApiKey(`/v1/consumers/${granted.share.id}/current`, testKey))).toBe("409 share_inactive");
    expect((await share(granted.share.id)).status).toBe("expired");
    expect((await getWithApiKey("/v1/shares?status=active", testKey)).body.data.shares).toEqual([]);
    const expired = (await getWithApiKey("/v1/shares?status=expired&limit=1", testKey)).body.data.shares;
    expect(expired[0].id).toBe(granted.share.id);
    await sweepDueShares(await getPlatform(env));
    expect((await listEvents(granted.share.id)).map(({ type }) => type)).toEqual(["share.created", "share.expired"]);
  });

  test("makes a revoked share overdue, and its acknowledgment late", async () => {
    const { body } = await trigger({ type: "share.revoked" });
    const { id } = body.data.share;
    await move({ advance_seconds: 30 * 86_400 });
    expect((await share(id)).cease).toMatchObject({ status: "open", overdue: true });
    expect((await postWithApiKey(`/v1/shares/${id}/cease-ack`, {}, testKey)).body.data.on_time).toBe(false);
  });

  test("moves forward only, up to a limit, by seconds or to a time, and POST /v1/sandbox/reset sets it back", async () => {
    const start = (await getWithApiKey("/v1/sandbox/clock", testKey)).body.data;
    expect(start).toMatchObject({ environment: "sandbox", offset_seconds: 0, moved_at: null });
    for (const wrong of [
      {},
      { advance_seconds: 0 },
      { advance_seconds: -1 },
      { advance_seconds: 1.5 },
      { advance_seconds: 60, to: "2040-01-01T00:00:00Z" },
      { to: "2001-01-01T00:00:00.000Z" },
      { to: "soon" },
      { to: "2099-01-01T00:00:00.000Z" },
      { advance_seconds: 1_097 * 86_400 },
    ])
      expect([wrong, describeOutcome(await move(wrong))]).toEqual([wrong, "400 invalid_request"]);
    expect((await getWithApiKey("/v1/sandbox/clock", testKey)).body.data.offset_seconds).toBe(0);
    await move({ advance_seconds: 1_096 * 86_400 });
    expect(describeOutcome(await move({ advance_seconds: 60 }))).toBe("400 invalid_request");
    const { share: created } = await grantTestShare();
    expect((await reset()).body.data).toEqual({ environment: "sandbox", ended: 1 });
    expect(await share(created.id)).toMatchObject({ status: "revoked" });
    expect((await getWithApiKey("/v1/sandbox/clock", testKey)).body.data).toMatchObject({ offset_seconds: 0, moved_at: null });
  });
});

const copyTestShare = async (id: string, copies: number): Promise<void> => {
  const same = `business_id, business_name, client_id, environment, state, scope, origin, request_evidence, purpose, disclosure_hash, duration_days, created_at, stored_at,
    expires_at, next_due_at, fields_revision, fingerprint, subject_hash, signature, signature_kid, key_sealed, language`;
  const filled = `INSERT INTO shares (id, changed_by, ${same}) SELECT 'shr_fill' || substr(?2, -6) || value, 'fill', ${same}
    FROM (SELECT ${same} FROM shares WHERE id = ?2), json_each(?1)`;
  await env.DB.prepare(filled)
    .bind(JSON.stringify(Array.from({ length: copies }, (_, at) => at)), id)
    .run();
};

describe("POST /v1/sandbox/trigger", () => {
  test.each([
    ["share.created", "active"],
    ["share.renewed", "active"],
    ["share.revoked", "revoked"],
    ["business.ceased", "ceased"],
    ["share.expiring", "active"],
    ["share.expired", "expired"],
    ["consumer.updated.email", "active"],
    ["consumer.updated.phone", "active"],
    ["consumer.updated.address", "active"],
    ["consumer.updated.name", "active"],
  ])("triggers %s for a new share", async (type, status) => {
    const { body } = await trigger({ type });
    expect(body.data).toMatchObject({ environment: "sandbox", share: { status, environment: "sandbox" }, event: { type } });
    expect(body.data.event.share_id).toBe(body.data.share.id);
    expect((await listEvents(body.data.share.id)).at(-1)).toEqual(body.data.event);
  });

  test("alternates between two values if none is given", async () => {
    const { id } = (await grantTestShare()).share;
    const update = async () => (await trigger({ type: "consumer.updated.phone", share_id: id })).body.data.event.data;
    expect(await update()).toEqual({ phone: "+12025550199" });
    expect(await update()).toEqual({ phone: "+12025550123" });
  });

  test("returns the event of the share even if 600 other shares expire before it", async () => {
    const { share: created } = await grantTestShare({ duration_days: 1 });
    await copyTestShare(created.id, 600);
    const triggered = await trigger({ type: "share.expired" });
    expect(describeOutcome(triggered)).toBe("200 ok");
    const { share: expired, event } = triggered.body.data;
    expect([expired.status, event.type, event.share_id]).toEqual(["expired", "share.expired", expired.id]);
  });

  test("creates no share if the clock cannot be advanced to its warning or end", async () => {
    expect((await move({ advance_seconds: 1_096 * 86_400 - 3_600 })).status).toBe(200);
    const before = (await listAllEvents(testKey)).length;
    for (const type of ["share.expiring", "share.expired"]) expect(describeOutcome(await trigger({ type }))).toBe("400 invalid_request");
    expect((await trigger({ type: "share.created" })).status).toBe(200);
    await waitUntilSettled();
    expect((await listAllEvents(testKey)).length).toBe(before + 1);
  });

  test("refuses impossible events and changes nothing", async () => {
    const { share: created } = await grantTestShare({ scope: ["email"] });
    await waitUntilSettled();
    const before = (await listAllEvents(testKey)).length;
    for (const [body, wanted] of [
      [{}, "400 invalid_request"],
      [{ type: "certificate.revoked" }, "400 invalid_request"],
      [{ type: "share.created", share_id: created.id }, "400 invalid_request"],
      [{ type: "share.revoked", share_id: created.id, fields: { email: "a@example.com" } }, "400 invalid_request"],
      [{ type: "consumer.updated.phone", share_id: created.id }, "400 invalid_request"],
      [{ type: "consumer.updated.email", share_id: created.id, fields: { email: "sandbox@example.com" } }, "400 invalid_request"],
      [{ type: "consumer.updated.email", share_id: created.id, fields: { email: "no address" } }, "400 invalid_request"],
      [{ type: "consumer.updated.email", share_id: created.id, fields: { phone: "+12025550123" } }, "400 invalid_request"],
      [{ type: "consumer.updated.email", share_id: created.id, fields: { shoe_size: "42" } }, "400 invalid_request"],
      [{ type: "consumer.updated.email", fields: { email: "sandbox@example.com" } }, "400 invalid_request"],
      [{ type: "consumer.updated.email", fields: { email: "no address" } }, "400 invalid_request"],
      [{ type: "consumer.updated.email", fields: { phone: "+12025550123" } }, "400 invalid_request"],
      [{ type: "share.revoked", share_id: "shr_1" }, "404 not_found"],
      [{ type: "share.revoked", share_id: "shr_00000000000000000000000000" }, "404 not_found"],
      [{ type: "business.ceased", share_id: created.id }, "409 cease_not_open"],
    ] as const)
      expect([body, describeOutcome(await trigger(body))]).toEqual([body, wanted]);
    expect(describeOutcome(await trigger({ type: "share.revoked", share_id: created.id }, world.other.keys.sandbox))).toBe("404 not_found");
    expect((await listAllEvents(testKey)).length).toBe(before);
    await trigger({ type: "share.revoked", share_id: created.id });
    for (const type of ["share.revoked", "share.renewed", "share.expired", "consumer.updated.email"])
      expect(describeOutcome(await trigger({ type, share_id: created.id }))).toBe("409 share_inactive");
  });
});

test("POST /v1/share/sandbox-consent returns 429 past the limit of active shares, until a reset", async () => {
  const { share: created } = await grantTestShare();
  await copyTestShare(created.id, 9_999);
  await env.DB.exec("DELETE FROM record_usage"); // resets the count for the 30-day record limit, which another test covers
  const full = await call("/v1/share/sandbox-consent", buildJsonRequest(buildDecision(createVerifier(), { client_id: clientId })));
  expect([describeOutcome(full), full.headers.get("retry-after")]).toEqual(["429 rate_limited", "60"]);
  expect((await reset()).body.data).toEqual({ environment: "sandbox", ended: 2_000, more: true });
  expect((await call("/v1/share/sandbox-consent", buildJsonRequest(buildDecision(createVerifier(), { client_id: clientId })))).status).toBe(
    201,
  );
  await env.DB.prepare(
    "UPDATE shares SET state = 'expired', key_sealed = NULL, next_due_at = NULL WHERE changed_by = 'fill' AND state = 'active'",
  ).run();
});
