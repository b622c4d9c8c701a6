// Tests a share from its grant to its end, from the perspectives of the person, the page and the business.
import { firstShard } from "../../core/ids.ts";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { dayMs } from "../../core/time.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
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
} from "../support/sharing.ts";
import { buildJsonRequest, listMailTo, signIn } from "../support/people.ts";
import { copyRow } from "../support/copied-rows.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { call, origin, createServiceCall, world } from "../support/world.ts";

const platform = await getPlatform(env);

describe("a share", () => {
  test("is granted, redeemed once, read, revoked and acknowledged, with an event for each change", async () => {
    const pat = await signInPerson();
    const granted = await grantShare(pat, { state: "xyz" });
    expect(granted.share).toMatchObject({
      status: "active",
      scope: ["email", "phone"],
      scope_groups: ["email", "phone"],
      business: { id: world.acme.id },
      client_id: world.acme.clients.live,
      environment: "live",
      origin,
      duration_days: 365,
      revoked_at: null,
      expired_at: null,
      supersedes: null,
      superseded_by: null,
      cease: null,
      disclosure_hash: sha256Hex(""),
    });
    expect(Date.parse(granted.share.expires_at) - Date.parse(granted.share.created_at)).toBe(365 * 86_400_000);

    const redeemed = await redeemCode(granted);
    expect(redeemed.status).toBe(200);
    expect(redeemed.body.data).toEqual({
      share_id: granted.share.id,
      fingerprint: granted.share.fingerprint,
      status: "active",
      scope: ["email", "phone"],
      fields: { email: contactValues.email, phone: contactValues.phone },
      purpose: "Send you a solar estimate",
      granted_at: granted.share.created_at,
      expires_at: granted.share.expires_at,
      business_id: world.acme.id,
    });
    expect(describeOutcome(await redeemCode(granted))).toBe("409 code_used");

    const current = await getWithApiKey(`/v1/consumers/${granted.share.id}/current`);
    expect(current.body.data).toMatchObject({ status: "active", fields: { email: contactValues.email, phone: contactValues.phone } });

    const stopped = await pat.post(`/v1/shares/${granted.share.id}/revoke`, { reason: "Found another provider" });
    expect(stopped.status).toBe(200);
    expect(stopped.body.data.share).toMatchObject({ status: "revoked", cease: { status: "open", acknowledged_at: null, overdue: false } });
    expect(stopped.body.data.cease_by).toBe(stopped.body.data.share.cease.cease_by);
    expect((await pat.post(`/v1/me/sever/${granted.share.id}`, {})).body.data).toMatchObject({ already_revoked: true });
    expect(describeOutcome(await getWithApiKey(`/v1/consumers/${granted.share.id}/current`))).toBe("409 share_inactive");

    const ceased = await postWithApiKey(`/v1/shares/${granted.share.id}/cease-ack`, { note: "Done" });
    expect(ceased.body.data).toMatchObject({ on_time: true, share: { status: "ceased", cease: { status: "acknowledged" } } });
    expect((await postWithApiKey(`/v1/shares/${granted.share.id}/cease-ack`, {})).body.data).toMatchObject({
      already_acknowledged: true,
      acknowledged_at: ceased.body.data.acknowledged_at,
    });

    await waitUntilSettled();
    const events = (await listAllEvents()).filter(({ share_id }) => share_id === granted.share.id);
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["share.created", null],
      ["share.revoked", null],
      ["business.ceased", null],
    ]);
    const mails = (await listMailTo(pat.email)).map(({ subject }) => subject).reverse();
    expect(mails).toEqual(["You shared your details", "You stopped sharing", "A business confirmed that it stopped contacting you"]);
    const detail = (await getWithApiKey(`/v1/shares/${granted.share.id}`)).body.data;
    expect(detail).toMatchObject({ status: "ceased", reason: "Found another provider", disclosure_text: null });
    expect(detail.history.map(({ type }: { type: string }) => type)).toEqual([
      "share.created",
      "share.redeemed",
      "consumer.current_read",
      "share.revoked",
      "business.ceased",
    ]);
  });

  test.each([
    ["with a line break", "Too many calls.\r\nPlease stop.", "Too many calls. Please stop."],
    ["with a direction mark", "\u200f\u05d3\u05d9", "\ufffd\u05d3\u05d9"],
    ["with a control character", "a\u0007b", "a\ufffdb"],
  ])("is revoked regardless of the characters in the reason: %s", async (_name, reason, stored) => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    expect(describeOutcome(await pat.post(`/v1/me/sever/${share.id}`, { reason: "x".repeat(201) }))).toBe("400 invalid_request");
    expect((await pat.post(`/v1/me/sever/${share.id}`, { reason })).status).toBe(200);
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data).toMatchObject({ status: "revoked", reason: stored });
  });

  test("sends the business an event for a changed field in its scope, and for no other field", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { scope: ["email", "name"] });
    const changed = await pat.put("/v1/me/fields", { phone: "+1 202 555 0199", first_name: "Patricia", email: ` ${contactValues.email} ` });
    expect(changed.body.data).toMatchObject({ changed_groups: ["phone", "name"], events_emitted: 1 });
    await waitUntilSettled();
    const events = (await listAllEvents()).filter(({ share_id }) => share_id === share.id);
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["share.created", null],
      ["consumer.updated.name", { first_name: "Patricia", last_name: "Example" }],
    ]);
    expect((await getWithApiKey(`/v1/consumers/${share.id}/current`)).body.data.fields).toEqual({
      email: contactValues.email,
      first_name: "Patricia",
      last_name: "Example",
    });
    await pat.post(`/v1/shares/${share.id}/revoke`, {});
    const after = (await listAllEvents()).filter(({ share_id, type }) => share_id === share.id && type.startsWith("consumer."));
    expect(after.map(({ data }) => data)).toEqual([null]);
  });

  test("shows when data was last delivered to the business, but only to the person who granted it", async () => {
    const pat = await signInPerson();
    const granted = await grantShare(pat);
    const { id } = granted.share;
    const createLaterService = (ms: number) => createServiceCall({ DEV_CLOCK_OFFSET_MS: String(ms) });
    const readLastDelivery = async (): Promise<string | null> => (await pat.get("/v1/me/shares")).body.data.shares[0].last_delivered_at;
    const change = (fields: object, ms: number) =>
      createLaterService(ms)("/v1/me/fields", { ...buildJsonRequest(fields, pat.headers), method: "PUT" });
    const steps = [
      () => redeemCode(granted, {}, { origin }, createLaterService(20_000)),
      () => getWithApiKey(`/v1/consumers/${id}/current`, undefined, createLaterService(3_600_000)),
      () => getWithApiKey(`/v1/consumers/${id}/current`, undefined, createLaterService(7_200_000)), // counts as a delivery, even though the person's audit chain records at most one read per day
      () => change({ phone: "+1 202 555 0199" }, 10_800_000),
    ];
    expect(await readLastDelivery()).toBeNull();
    let before = Date.parse(granted.share.created_at);
    for (const step of steps) {
      expect((await step()).status).toBe(200);
      const now = Date.parse((await readLastDelivery()) as string);
      expect(now - before).toBeGreaterThanOrEqual(10_000);
      before = now;
    }
    await change({ city: "Newtown" }, 14_400_000); // the share does not include the city, so nothing is delivered
    await pat.post(`/v1/shares/${id}/revoke`, {});
    await change({ phone: null }, 18_000_000);
    expect(Date.parse((await readLastDelivery()) as string)).toBe(before);
    expect((await getWithApiKey(`/v1/shares/${id}`)).body.data).not.toHaveProperty("last_delivered_at");
    const [listIds] = (await getWithApiKey("/v1/shares?limit=1")).body.data.shares;
    expect([listIds.id, "last_delivered_at" in listIds]).toEqual([id, false]);
    expect((await pat.get("/v1/me/export")).body.shares[0].last_delivered_at).toBe(await readLastDelivery());
  });

  test("is listed only under its current status", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { duration_days: 1 });
    const listIds = async (status: string) =>
      (await getWithApiKey(`/v1/shares?status=${status}`)).body.data.shares.map(({ id }: { id: string }) => id) as string[];
    expect(await listIds("active")).toContain(share.id);
    expect(await listIds("expired")).not.toContain(share.id);
    await env.DB.prepare("UPDATE shares SET next_due_at = 1 WHERE id = ?").bind(share.id).run();
    expect(await listIds("expired")).not.toContain(share.id);
  });

  test("is on a page of at most 200 shares, and the next page continues after the last one", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { duration_days: 1 });
    await copyRow("shares", share.id, 201, {
      id: "substr(s.id, 1, 24) || printf('%06d', n.i)",
      state: "'superseded'",
      superseded_by: "s.id",
      key_sealed: "NULL",
      next_due_at: "NULL",
    });
    const listPage = async (query: string) => (await getWithApiKey(`/v1/shares?status=superseded${query}`)).body.data;
    const first = await listPage("&limit=201");
    expect([first.shares.length, first.has_more]).toEqual([200, true]);
    const rest = await listPage(`&starting_after=${first.shares[199].id}`);
    expect(rest.has_more).toBe(false);
    const ids = [...first.shares, ...rest.shares].map(({ id }: { id: string }) => id);
    expect([ids.length >= 201, new Set(ids).size]).toEqual([true, ids.length]);
  });

  test("returns a code that is valid for sixty seconds, however long the grant took", async () => {
    const pat = await signInPerson();
    const slow = {
      prepare: (text: string) => env.DB.prepare(text),
      withSession: (constraint: D1SessionConstraint) => env.DB.withSession(constraint),
      batch: async (statements: D1PreparedStatement[]) => {
        if (statements.length > 4) await scheduler.wait(700);
        return env.DB.batch(statements);
      },
    };
    const decision = buildJsonRequest(buildDecision(createVerifier()), pat.headers);
    const { data } = (await createServiceCall({ DB: slow })("/v1/share/consent", decision)).body;
    expect(data.expires_in).toBe(60);
    expect(Date.parse(data.expires_at) - Date.parse(data.share.created_at)).toBe(60_000);
  });

  test("has its renewal in its history, as does the renewed share", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const fresh = (await pat.post(`/v1/me/shares/${share.id}/renew`, { consent: true })).body.data.share;
    await waitUntilSettled();
    await platform.auditLogStub(firstShard).drainNow(); // otherwise, the entry could get its log number between two reads, and they would differ
    const readHistory = async (id: string) => (await getWithApiKey(`/v1/shares/${id}`)).body.data.history;
    const [, ended] = await readHistory(share.id);
    expect(await readHistory(share.id)).toHaveLength(2);
    expect(ended).toMatchObject({ type: "share.renewed", at: fresh.created_at });
    expect(await readHistory(fresh.id)).toEqual([ended]);
  });

  test("gives the position of each event in the audit chain as a number, as the audit trail does", async () => {
    const { share } = await grantShare(await signInPerson());
    await waitUntilSettled();
    await platform.auditLogStub(firstShard).drainNow();
    const [{ type, audit_seq: position }] = (await getWithApiKey(`/v1/shares/${share.id}`)).body.data.history;
    expect(position).toEqual(expect.any(Number));
    const headers = await signIn(world.ownerEmail);
    const trail = await call(`/v1/business/portal/audit?limit=1&before_seq=${position + 1}`, { headers });
    expect(trail.body.data.entries).toMatchObject([{ seq: position, type, entity_id: share.id }]);
  });

  test("is superseded by the renewed share", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const renewed = await pat.post(`/v1/me/shares/${share.id}/renew`, { consent: true, duration_days: 30, scope: ["email", "name"] });
    expect(renewed.status).toBe(201);
    expect(renewed.body.data.superseded).toEqual({ id: share.id, status: "superseded" });
    expect(renewed.body.data.share).toMatchObject({
      status: "active",
      supersedes: share.id,
      duration_days: 30,
      scope: ["email", "first_name", "last_name"],
    });
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data).toMatchObject({
      status: "superseded",
      superseded_by: renewed.body.data.share.id,
    });
    expect(describeOutcome(await pat.post(`/v1/me/shares/${share.id}/renew`, { consent: true }))).toBe("409 share_inactive");
    await waitUntilSettled();
    const events = (await listAllEvents()).filter(({ share_id }) => [share.id, renewed.body.data.share.id].includes(share_id));
    expect(events.map(({ type, share_id }) => [type, share_id])).toEqual([
      ["share.created", share.id],
      ["share.renewed", renewed.body.data.share.id],
    ]);
  });

  test("is listed under its status, and after its end under `expired`, both before and after the sweep", async () => {
    const pat = await signInPerson();
    const [ended, swept, active] = [
      await grantShare(pat, { duration_days: 1 }),
      await grantShare(pat, { duration_days: 1 }),
      await grantShare(pat),
    ];
    const callLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(dayMs) });
    await env.DB.prepare("UPDATE shares SET state = 'expired', key_sealed = NULL, next_due_at = NULL WHERE id = ?")
      .bind(swept.share.id)
      .run();
    const listShareIds = async (decision: string): Promise<string[]> =>
      (await getWithApiKey(`/v1/shares?${decision}`, undefined, callLater)).body.data.shares.map(({ id }: { id: string }) => id);
    const ownIds = [active, swept, ended].map(({ share }) => share.id);
    expect((await listShareIds("status=expired")).filter((id) => ownIds.includes(id))).toEqual([swept.share.id, ended.share.id]);
    expect((await listShareIds("status=active")).filter((id) => ownIds.includes(id))).toEqual([active.share.id]);
    expect(await listShareIds(`status=expired&limit=1&starting_after=${swept.share.id}`)).toEqual([ended.share.id]);
    expect((await listShareIds("limit=200")).filter((id) => ownIds.includes(id))).toEqual(ownIds);
  });

  test("is revoked by the link in its email, and by no other token", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const other = await grantShare(pat);
    const mails = await listMailTo(pat.email);
    const findRevokeToken = (id: string) =>
      mails.map(({ text }) => new RegExp(`/stop/${id}#t=(\\S+)`).exec(text)?.[1]).find(Boolean) as string;
    const stop = (id: string, body: object) =>
      call(`/v1/shares/${id}/revoke`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    expect(describeOutcome(await stop(share.id, {}))).toBe("401 unauthorized");
    expect(describeOutcome(await stop("of-no-share", {}))).toBe("401 unauthorized"); // the credential is checked before the ID
    expect(describeOutcome(await stop(share.id, { revoke_token: findRevokeToken(other.share.id) }))).toBe("401 unauthorized");
    expect(describeOutcome(await stop(share.id, { revoke_token: findRevokeToken(share.id) }))).toBe("200 ok");
    expect((await getWithApiKey(`/v1/shares/${other.share.id}`)).body.data.status).toBe("active");
  });

  test("is refused with an unknown name in missing_ok, and the message says so", async () => {
    const pat = await signInPerson();
    const decision = buildDecision(createVerifier(), { scope: ["email"], missing_ok: ["address", "fax"] });
    const { status, body } = await pat.post("/v1/share/consent", decision);
    expect([status, body.error.message]).toEqual([400, "missing_ok: must contain only contact fields or groups."]);
  });

  test("is decided once per request, however often the decision arrives", async () => {
    const pat = await signInPerson();
    const verifier = createVerifier();
    const decision = buildDecision(verifier, { state: "s" });
    const query = new URLSearchParams({
      client_id: decision.client_id,
      origin,
      scope: "email phone?",
      purpose: decision.purpose,
      code_challenge: decision.code_challenge,
      code_challenge_method: "S256",
      state: "s",
    });
    const authorized = await call(`/v1/authorize?${query}`, { headers: { origin } });
    expect(authorized.body.data).toMatchObject({ scope: ["email", "phone"], needed: ["email"], expires_in: 600, state: "s", origin });
    expect(authorized.body.data.client.logo_url).toBeNull();
    await env.DB.prepare("UPDATE businesses SET logo_url = 'https://example.com/logo.png' WHERE id = ?").bind(world.acme.id).run();
    expect((await call(`/v1/authorize?${query}`, { headers: { origin } })).body.data.client.logo_url).toBe("https://example.com/logo.png");
    await env.DB.prepare("UPDATE businesses SET logo_url = NULL WHERE id = ?").bind(world.acme.id).run();
    const token = authorized.body.data.authorize_token;
    const decide = (change: object) => pat.post("/v1/share/consent", { ...decision, authorize_token: token, ...change });
    expect(describeOutcome(await decide({ scope: ["email", "name"] }))).toBe("400 invalid_request");
    expect(describeOutcome(await decide({ scope: ["phone"] }))).toBe("400 invalid_request");
    expect(describeOutcome(await decide({ purpose: "Something else" }))).toBe("400 invalid_request");
    const responses = await Promise.all(Array.from({ length: 5 }, () => decide({ scope: ["email"] })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(responses.map(({ body }) => body.data.share.id)).size).toBe(1);
    expect(new Set(responses.map(({ body }) => body.data.code)).size).toBe(1);
  });
});
