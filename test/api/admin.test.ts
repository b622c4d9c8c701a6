// Tests the operator's routes, which accept only the operator token.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import type { TemplatedMail } from "../../core/mail/templates.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import { insertMail } from "../../storage/outboxes/mail.ts";
import { relayMail } from "../../workers/background/mail-relay.ts";
import { suspendUnpaid } from "../../workers/background/unpaid-sweep.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { createCustomer, sendProviderEvent } from "../support/billing.ts";
import { buildJsonRequest } from "../support/people.ts";
import { createRandomKey } from "../support/note-keys.ts";
import {
  call,
  issueCertificate,
  readDatabaseContents,
  createEntryCall,
  getWithKey,
  productionSettings,
  createServiceCall,
  world,
  type TestResponse,
} from "../support/world.ts";

const token = "token-of-the-operator-in-the-tests-of-43-ch";
const service = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token) });
const bearer = { authorization: `Bearer ${token}` };
const { free } = world.examples;
const at = `/v1/admin/businesses/${free.id}`;
const set = (change: unknown, headers: Record<string, string> = bearer, path = at): Promise<TestResponse> =>
  service(path, buildJsonRequest(change, headers));
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body.error?.code ?? "ok"}`;

beforeEach(async () => {
  await env.DB.batch([
    env.DB.prepare("DELETE FROM billing_customers"),
    env.DB.prepare("DELETE FROM audit_entries WHERE entity_id = ?").bind(free.id),
    env.DB.prepare("UPDATE businesses SET status = 'pending', plan = 'free' WHERE id = ?").bind(free.id),
  ]);
});

describe("/v1/admin with the operator token", () => {
  test("approves, suspends and closes a business, sets its plan, and records each change in its audit chain", async () => {
    expect((await set({ status: "active" })).body.data).toEqual({ id: free.id, status: "active", plan: "free" });
    expect((await set({ plan: "enterprise" })).body.data).toEqual({ id: free.id, status: "active", plan: "enterprise" });
    expect((await set({ status: "suspended", plan: "business" })).status).toBe(200);
    expect((await getWithKey("/v1/certs", free.keys.live)).body.error.code).toBe("business_suspended");
    expect((await service(at, { headers: bearer })).body.data).toEqual({ id: free.id, status: "suspended", plan: "business" });
    await set({ status: "suspended" });
    const { results } = await env.DB.prepare("SELECT type FROM audit_entries WHERE entity_id = ? ORDER BY ord").bind(free.id).all();
    expect(results.map(({ type }) => type)).toEqual([
      "business.status_changed",
      "business.plan_changed",
      "business.plan_changed",
      "business.status_changed",
    ]);
  });

  test("takes precedence over billing: it clears a past-due status, and payments do not lift a suspension", async () => {
    const customer = createCustomer(free.id, "business");
    await set({ status: "active" });
    await sendProviderEvent(customer.checkout(0));
    await sendProviderEvent(customer.failed(1));
    await set({ status: "active" });
    expect((await service(at, { headers: bearer })).body.data).toMatchObject({ status: "active", plan: "business" });
    await set({ status: "suspended" });
    await sendProviderEvent(customer.paid(2));
    expect((await service(at, { headers: bearer })).body.data.status).toBe("suspended");
  });

  test("keeps a business suspended that was already suspended because of a missed payment", async () => {
    const customer = createCustomer(free.id, "business", { beganAt: Date.now() - 15 * 86_400_000 });
    await set({ status: "active" });
    await sendProviderEvent(customer.checkout(0));
    await sendProviderEvent(customer.failed(1));
    await suspendUnpaid(await createPlatform(env));
    expect((await service(at, { headers: bearer })).body.data.status).toBe("suspended");
    const countEntries = () =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type = 'business.status_changed'")
        .bind(free.id)
        .first<number>("n");
    const before = Number(await countEntries());
    await set({ status: "suspended" });
    expect(await countEntries()).toBe(before + 1);
    await set({ status: "suspended" });
    expect(await countEntries()).toBe(before + 1);
    await sendProviderEvent(customer.paid(2));
    expect((await service(at, { headers: bearer })).body.data.status).toBe("suspended");
  });

  test("lists work that is overdue, and the size of every shard", async () => {
    await env.DB.prepare("DELETE FROM mail_outbox").run();
    const old = Date.now() - 3_600_000;
    await env.DB.prepare(
      "INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at) VALUES ('m', 'login_code', 's', ?1 * 2, ?1 * 2, ?1)",
    )
      .bind(old)
      .run();
    const { stuck } = (await service("/v1/admin/stuck", { headers: bearer })).body.data as { stuck: { kind: string }[] };
    expect(stuck).toContainEqual({ kind: "mail", count: 1, since: new Date(old).toISOString(), shard: "00" });
    const { shards } = (await service("/v1/admin/stuck", { headers: bearer })).body.data as { shards: readonly object[] };
    const buildShardSize = (shard: string) => ({ shard, bytes: expect.any(Number), max_bytes: 10_000_000_000, available: true });
    expect(shards).toEqual([buildShardSize("00"), buildShardSize("01")]);
    await env.DB.prepare("DELETE FROM mail_outbox").run();
  });

  test.each([
    { database: "01", available: { "00": true, "01": false } },
    { database: "00", available: { "00": false, "01": true } },
  ])("names shard $database when it does not respond, and lists the others", async ({ database, available }) => {
    const setFault = (for_ms: number) => service("/dev/faults", buildJsonRequest({ database, mode: "reset", for_ms }));
    const read = async (path: string) => (await service(path, { headers: bearer })).body.data;
    await setFault(3_600_000);
    try {
      const listAvailable = (shards: readonly { readonly shard: string; readonly available: boolean }[]) =>
        Object.fromEntries(shards.map((each) => [each.shard, each.available]));
      expect(listAvailable((await read("/v1/admin/stuck")).shards)).toEqual(available);
      expect(listAvailable(await read("/v1/admin/shards"))).toEqual(available);
      expect((await read("/v1/admin/figures")).unavailable_shards).toMatchObject({ value: 1, raised: true });
    } finally {
      await setFault(0);
    }
    expect((await read("/v1/admin/figures")).unavailable_shards).toMatchObject({ value: 0, raised: false });
  });

  describe("an email that was not delivered", () => {
    const getPlatform = () => createPlatform(env);
    const failMailTo = async (recipient: string, mail: TemplatedMail) => {
      const { vault, ...services } = await getPlatform();
      const db = openDatabase(env.DB);
      await batch(db, await insertMail(db, vault, { ...mail, to: recipient, now: Date.now() }));
      await relayMail({ ...services, vault, log: { ...services.log, error: () => undefined }, mailer: { send: async () => "refused" } });
    };
    const listFailedMail = async () => {
      const { failed_mail } = (await service("/v1/admin/stuck", { headers: bearer })).body.data as {
        failed_mail: { id: string; to: string }[];
      };
      return failed_mail;
    };
    const resendMail = (id: string) => service(`/v1/admin/mail/${id}`, { method: "POST", headers: bearer });
    const receipt: TemplatedMail = { template: "withdrawal_owner_notice", data: { certIds: ["cc_1"], ceaseBy: 0 } };

    beforeEach(() => env.DB.batch(["mail_outbox", "captured_mail", "failed_mail"].map((table) => env.DB.prepare(`DELETE FROM ${table}`))));

    test("is listed with the reason and the domain, but not the address, of its recipient", async () => {
      await failMailTo("Zebulon@bücher.example", receipt);
      expect(await listFailedMail()).toEqual([
        {
          shard: "00",
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          template: "withdrawal_owner_notice",
          reason: "refused",
          to: "***@xn--bcher-kva.example",
          failed_at: expect.any(String),
        },
      ]);
    });

    test("is sent once more after `resend`", async () => {
      await failMailTo("zebulon@example.com", receipt);
      const id = (await listFailedMail())[0]?.id ?? "";
      expect((await resendMail(id)).body.data).toEqual({ id, status: "queued" });
      expect(await listFailedMail()).toEqual([]);
      await relayMail(await getPlatform());
      expect((await call("/dev/mail?to=zebulon@example.com")).body.messages).toHaveLength(1);
      expect((await resendMail(id)).status).toBe(404);
    });

    test("is queued while another shard does not respond, and is not reported as unknown while its own shard does not respond", async () => {
      await failMailTo("zebulon@example.com", receipt);
      const id = (await listFailedMail())[0]?.id ?? "";
      const setFault = (database: string, for_ms: number) => service("/dev/faults", buildJsonRequest({ database, mode: "reset", for_ms }));
      try {
        await setFault("00", 3_600_000);
        expect((await resendMail(id)).status).toBe(503);
        await setFault("00", 0);
        await setFault("01", 3_600_000);
        expect((await resendMail(id)).body.data).toEqual({ id, status: "queued" });
        expect((await service("/v1/admin/removals", { headers: bearer })).status).toBe(200);
      } finally {
        await setFault("00", 0);
        await setFault("01", 0);
      }
    });

    test("cannot be resent if it contains a one-time code, or without the operator token", async () => {
      await failMailTo("zebulon@example.com", {
        template: "withdrawal_code",
        data: { code: "123456", businessName: "Acme Solar LLC", isTest: false, verifyUrl: "https://verify.example.com" },
      });
      const id = (await listFailedMail())[0]?.id ?? "";
      expect((await resendMail(id)).status).toBe(404);
      expect((await listFailedMail()).map((mail) => mail.id)).toEqual([id]);
      expect((await resendMail("not-an-id")).status).toBe(404);
      expect((await service(`/v1/admin/mail/${id}`, { method: "POST" })).status).toBe(401);
    });
  });
});

describe("/v1/admin/deployment-check", () => {
  const path = "/v1/admin/deployment-check";
  const begin = async (): Promise<{ client_id: string; api_key: string }> => {
    const { status, body } = await service(path, { method: "POST", headers: bearer });
    expect(status).toBe(201);
    return body.data as { client_id: string; api_key: string };
  };

  test("returns a key that can issue, verify and withdraw a sandbox certificate, but no live one", async () => {
    const { client_id: clientId, api_key: apiKey } = await begin();
    const submission = {
      client_id: clientId,
      fields: { phone: "+12025550123" },
      disclosure_text: "Checks this deployment.",
      entities: ["Deployment check"],
      purpose: "deployment check",
      page_url: "http://localhost/",
    };
    const issued = await call(
      "/v1/consent",
      buildJsonRequest(submission, { origin: "http://localhost", authorization: `Bearer ${apiKey}` }),
    );
    expect(issued.status).toBe(201);
    const { cert_id: certId } = issued.body.data as { cert_id: string };
    expect((await call(`/v1/certs/${certId}/verify`)).body.data).toMatchObject({ status: "active", environment: "sandbox" });
    const withdrawal = { method: "sms_stop", scope: "certificate", received_at: new Date().toISOString() };
    const withdrawn = await call(`/v1/certs/${certId}/withdrawals`, buildJsonRequest(withdrawal, { authorization: `Bearer ${apiKey}` }));
    expect(withdrawn.status).toBe(201);
    expect((await call(`/v1/certs/${certId}/verify`)).body.data).toMatchObject({ status: "revoked" });
  });

  test("uses one business for all checks, and revokes the key of the earlier check", async () => {
    const first = await begin();
    const second = await begin();
    expect(second.client_id).toBe(first.client_id);
    expect((await getWithKey("/v1/certs", first.api_key)).status).toBe(401);
    expect((await getWithKey("/v1/certs", second.api_key)).status).toBe(200);
    expect((await service(path, { method: "DELETE", headers: bearer })).status).toBe(200);
    expect((await getWithKey("/v1/certs", second.api_key)).status).toBe(401);
  });

  test("is refused without the operator token", async () => {
    for (const method of ["POST", "DELETE"]) expect(describeOutcome(await service(path, { method }))).toBe("401 unauthorized");
  });
});

describe("/v1/admin for other callers", () => {
  test("Y8: returns 401 without the token, whatever other credential is sent, and changes nothing", async () => {
    const before = await readDatabaseContents();
    for (const headers of [
      {},
      { authorization: `Bearer ${token.slice(1)}x` },
      { authorization: `Bearer ${sha256Hex(token)}` },
      { authorization: token },
      { authorization: `Bearer ${world.acme.keys.live}` },
    ] as Record<string, string>[]) {
      expect(describeOutcome(await set({ plan: "enterprise" }, headers))).toBe("401 unauthorized");
      expect(describeOutcome(await service("/v1/admin/stuck", { headers }))).toBe("401 unauthorized");
    }
    expect(describeOutcome(await call(at, { headers: bearer }))).toBe("404 not_found");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("refuses an unknown business and an invalid change", async () => {
    for (const change of [{}, { status: "pending" }, { status: "past_due" }, { plan: "white_glove" }, { plan: "free", name: "x" }, []])
      expect([change, describeOutcome(await set(change))]).toEqual([change, "400 invalid_request"]);
    for (const id of ["x", `biz_00${"0".repeat(24)}`, `biz_zz${"0".repeat(24)}`, `con_00${"0".repeat(24)}`])
      expect(describeOutcome(await set({ plan: "free" }, bearer, `/v1/admin/businesses/${id}`))).toBe("404 not_found");
  });

  test("does not let a deployment with an invalid token hash start", async () => {
    const bad = createEntryCall({ ...productionSettings, ADMIN_TOKEN_SHA256: token }, "https://api.svc.test");
    expect((await bad("/v1/health")).body.error.code).toBe("misconfigured");
  });
});

describe("POST /v1/admin/keys/links", () => {
  const at = "/v1/admin/keys/links";

  test("names the keys but never shows them, and refuses callers without the token", async () => {
    const key = createRandomKey(78);
    const during = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token), LINK_KEYS: `index,1:${key}@next` });
    expect((await service(at, buildJsonRequest({}, bearer))).body.data).toEqual({ current: "index", accepted: ["index"] });
    expect((await during(at, buildJsonRequest({}, bearer))).body.data).toEqual({ current: "index", accepted: ["index", "1"] });
    expect(describeOutcome(await during(at, buildJsonRequest({})))).toBe("401 unauthorized");
  });
});

describe("POST /v1/admin/keys/master", () => {
  const firstKey = String(env.MASTER_KEYS);
  const during = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token), MASTER_KEYS: `${firstKey},2:${createRandomKey(77)}` });
  const at = "/v1/admin/keys/master";

  const check = async (on: typeof service): Promise<number> => {
    let outdated = 0;
    for (let cursor: unknown = null; ; ) {
      const { body } = await on(at, buildJsonRequest({ check: true, cursor }, bearer));
      outdated += body.data.outdated;
      if (body.data.next === null) return outdated;
      cursor = body.data.next;
    }
  };

  // The first key wraps all values in this database, so this test only counts them. test/flows/key-rotation.test.ts tests rewrapping.
  test("counts the values that an earlier key wraps, and changes nothing during a check", async () => {
    const { cert_id: certId } = await issueCertificate({ fields: { email: "counted@example.com" } });
    expect(await check(service)).toBe(0);
    expect(await check(during)).toBeGreaterThan(0);
    const { results } = await env.DB.prepare("SELECT CAST(substr(person_sealed, 1, 2) AS TEXT) AS sealed FROM certificates WHERE id = ?")
      .bind(certId)
      .all<{ sealed: string }>();
    expect(results[0]?.sealed).toMatch(/^1\./);
  });

  test("refuses a cursor without a valid shard and table, and callers without the token", async () => {
    expect(describeOutcome(await set({ cursor: { shard: "zz", step: "certificates", position: [] } }, bearer, at))).toBe("404 not_found");
    expect(describeOutcome(await set({ cursor: { shard: "00", step: "businesses", position: [] } }, bearer, at))).toBe("404 not_found");
    expect(describeOutcome(await set({ cursor: 7 }, bearer, at))).toBe("400 invalid_request");
    expect(describeOutcome(await set({}, {}, at))).toBe("401 unauthorized");
  });
});
