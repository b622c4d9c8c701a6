// Tests that test certificates and test shares are deleted after 30 days, together with the texts that no other record uses. Live records
// are never deleted.
import { env } from "cloudflare:workers";
import { getColumns, getTableName } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { dayMs } from "../../core/time.ts";
import * as schema from "../../storage/schema.ts";
import { deleteExpiredTestRecords } from "../../workers/background/sandbox-sweep.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { buildDecision, createVerifier, getWithApiKey } from "../support/sharing.ts";
import { call, getWithKey, issueCertificate, world, type ConsentBody } from "../support/world.ts";

const { acme } = world;
const base = await getPlatform(env);
const lifetimeMs = 30 * dayMs;
const sweepAt = (now: number): Promise<void> => deleteExpiredTestRecords({ ...base, clock: () => now });

const buildPost = (body: object, key?: string): RequestInit => ({
  method: "POST",
  headers: {
    "content-type": "application/json",
    origin: "https://www.example.com",
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  },
  body: JSON.stringify(body),
});
const issueTest = (change: Partial<ConsentBody> = {}) => issueCertificate({ client_id: acme.clients.sandbox, ...change });
const grantTest = async (change: object = {}): Promise<string> => {
  const granted = await call(
    "/v1/share/sandbox-consent",
    buildPost(buildDecision(createVerifier(), { client_id: acme.clients.sandbox, ...change })),
  );
  expect(granted.status).toBe(201);
  return granted.body.data.share.id;
};
const count = async (table: string, column: string, value: string | number): Promise<number> =>
  (await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE ${column} = ?`).bind(value).first<{ n: number }>())?.n ?? -1;
const verifyStatus = async (certId: string): Promise<number> => (await getWithKey(`/v1/certs/${certId}/verify`)).status;

/** These tables keep the history of deleted records, as IDs and hashes. */
const logs: ReadonlySet<string> = new Set(["audit_entries", "changes"]);

/** Lists the other tables that still have rows about a record. */
const listTablesWith = async (column: "cert_id" | "share_id" | "entity_id", id: string): Promise<string[]> => {
  const tables = Object.values(schema)
    .filter((table) => Object.values(getColumns(table)).some(({ name }) => name === column))
    .map((table) => getTableName(table));
  const counts = await Promise.all(tables.map(async (name) => [name, await count(name, column, id)] as const));
  return counts.flatMap(([name, rows]) => (rows > 0 && !logs.has(name) ? [name] : []));
};

/** Marks pending statements as anchored, which takes a few minutes in production. */
const anchorAll = () => env.DB.exec("UPDATE anchors SET status = 'anchored'");
const finishPolicies = () => env.DB.exec("UPDATE certificates SET policy_page_id = NULL");

describe("a test certificate", () => {
  const text = `Test only ${crypto.randomUUID()}`;
  const entities = [`First ${crypto.randomUUID()}`, `Second ${crypto.randomUUID()}`];
  const purpose = `Test purpose ${crypto.randomUUID()}`;
  let certId = "";
  let issuedAt = 0;
  beforeAll(async () => {
    const decisions = { entities_accepted: entities, entities_rejected: [`Third ${crypto.randomUUID()}`] };
    const issued = await issueTest({
      disclosure_text: text,
      entities: [...entities, ...decisions.entities_rejected],
      purpose,
      ...decisions,
    });
    certId = issued.cert_id;
    issuedAt = Date.parse(issued.issued_at as string);
    await call(`/c/${certId}`, { headers: { accept: "text/html", "user-agent": "Mozilla/5.0" } });
    const record = (body: object) => call(`/v1/certs/${certId}/withdrawals`, buildPost(body, acme.keys.sandbox));
    const channel = { method: "phone", received_at: new Date(issuedAt).toISOString() };
    expect((await record({ ...channel, scope: "certificate", entities: [entities[0]] })).status).toBe(201);
    const acknowledge = (body: object) => call(`/v1/certs/${certId}/cease-ack`, buildPost(body, acme.keys.sandbox));
    expect((await acknowledge({ acknowledged_by: "Privacy team", entities: [entities[0]] })).status).toBe(200);
    expect((await record({ ...channel, scope: "certificate" })).status).toBe(201);
    expect((await acknowledge({ acknowledged_by: "Privacy team" })).status).toBe(200);
    // Adds a second receipt for the same submission (as an intake journal does) and an email that could not be sent.
    const addTwin = `INSERT INTO certificate_twins (cert_id, fingerprint, issued_at, canonical, signature, signature_kid, manage_token_hash)
      SELECT id, 'other', issued_at, '{}', 'signature', 'key', 'hash' FROM certificates WHERE id = ?`;
    const addFailedMail = `INSERT INTO failed_mail (id, template, message_sealed, created_at, cert_id, reason, failed_at, expires_at)
      VALUES (?1, 'withdrawal_confirmation', 'sealed', 0, ?1, 'refused', 0, 9e15)`;
    await env.DB.batch([addTwin, addFailedMail].map((sql) => env.DB.prepare(sql).bind(certId)));
    await waitUntilSettled();
    await anchorAll();
    await finishPolicies();
  });

  test("stays for 30 days and is then deleted with everything that refers to it", async () => {
    await sweepAt(issuedAt + lifetimeMs - 1);
    expect(await verifyStatus(certId)).toBe(200);
    const tables = [
      "certificate_views",
      "withdrawals",
      "cease_acknowledgements",
      "entity_withdrawals",
      "entity_acknowledgements",
      "certificate_twins",
      "failed_mail",
    ];
    expect(await listTablesWith("cert_id", certId)).toEqual(expect.arrayContaining(tables));
    await sweepAt(issuedAt + lifetimeMs);
    expect(await verifyStatus(certId)).toBe(404);
    expect(await listTablesWith("cert_id", certId)).toEqual([]);
    expect(await listTablesWith("entity_id", certId)).toEqual([]);
    expect(
      (await getWithKey("/v1/certs", acme.keys.sandbox)).body.data.certs.map((cert: { cert_id: string }) => cert.cert_id),
    ).not.toContain(certId);
  });

  test("takes its disclosure, recipients, group and purpose with it", async () => {
    expect(await count("disclosures", "text", text)).toBe(0);
    for (const entity of entities) expect(await count("listed_entities", "entity", entity)).toBe(0);
    expect(await count("purposes", "purpose", purpose)).toBe(0);
    expect((await env.DB.prepare("PRAGMA foreign_key_check").all()).results).toEqual([]);
  });
});

describe("a shared text", () => {
  test("stays while a newer test record uses it, and is deleted with the last one", async () => {
    const disclosure_text = `Shared by tests ${crypto.randomUUID()}`;
    const first = await issueTest({ disclosure_text });
    await finishPolicies();
    const laterTime = Date.parse(first.issued_at as string) + dayMs;
    vi.useFakeTimers({ toFake: ["Date"], now: laterTime });
    const shareId = await grantTest({ disclosure_text });
    await waitUntilSettled();
    vi.useRealTimers();
    await sweepAt(laterTime + lifetimeMs - 1);
    expect([await verifyStatus(first.cert_id), await count("shares", "id", shareId)]).toEqual([404, 1]);
    expect(await count("disclosures", "text", disclosure_text)).toBe(1);
    await sweepAt(laterTime + lifetimeMs);
    expect(await count("disclosures", "text", disclosure_text)).toBe(0);
  });

  test.each(["before", "after"] as const)("stays if a live certificate %s the test certificate uses it", async (order) => {
    const shared = { disclosure_text: `Shared with live ${crypto.randomUUID()}`, entities: [`Everywhere ${crypto.randomUUID()}`] };
    const live = order === "before" ? await issueCertificate(shared) : null;
    const tested = await issueTest(shared);
    const liveId = (live ?? (await issueCertificate(shared))).cert_id;
    await finishPolicies();
    await sweepAt(Date.parse(tested.issued_at as string) + lifetimeMs);
    expect(await verifyStatus(tested.cert_id)).toBe(404);
    const { disclosure_text, entities } = (await getWithKey(`/v1/certs/${liveId}/verify`)).body.data;
    expect({ disclosure_text, entities }).toEqual(shared);
  });

  test("is stored again when a submission contains it after its deletion", async () => {
    const disclosure_text = `Sent again ${crypto.randomUUID()}`;
    const first = await issueTest({ disclosure_text });
    await finishPolicies();
    await sweepAt(Date.parse(first.issued_at as string) + lifetimeMs);
    const second = await issueTest({ disclosure_text });
    expect((await getWithKey(`/v1/certs/${second.cert_id}/verify`)).body.data.disclosure_text).toBe(disclosure_text);
  });
});

describe("a test share", () => {
  test("is deleted 30 days after it was stored, in any state and regardless of the sandbox clock", async () => {
    const move = await call("/v1/sandbox/clock", buildPost({ advance_seconds: 45 * 86_400 }, acme.keys.sandbox));
    expect(move.status).toBe(200);
    const shareId = await grantTest();
    await waitUntilSettled();
    await anchorAll();
    const storedAt =
      (await env.DB.prepare("SELECT stored_at AS at FROM shares WHERE id = ?").bind(shareId).first<{ at: number }>())?.at ?? 0;
    await sweepAt(storedAt + lifetimeMs - 1);
    expect((await getWithApiKey(`/v1/shares/${shareId}`, acme.keys.sandbox)).status).toBe(200);
    await sweepAt(storedAt + lifetimeMs);
    expect((await getWithApiKey(`/v1/shares/${shareId}`, acme.keys.sandbox)).status).toBe(404);
    expect(await listTablesWith("share_id", shareId)).toEqual([]);
    expect(await listTablesWith("entity_id", shareId)).toEqual([]);
    expect((await getWithKey("/v1/events", acme.keys.sandbox)).status).toBe(200);
  });
});

describe("a live record", () => {
  test("is not deleted after 30 days, and the database refuses to delete it or its texts", async () => {
    const issued = await issueCertificate({ disclosure_text: `Live ${crypto.randomUUID()}` });
    await sweepAt(Date.parse(issued.issued_at as string) + 10 * lifetimeMs);
    expect(await verifyStatus(issued.cert_id)).toBe(200);
    await expect(env.DB.prepare("DELETE FROM certificates WHERE id = ?").bind(issued.cert_id).run()).rejects.toThrow("never deleted");
    await expect(env.DB.prepare("DELETE FROM disclosures WHERE environment = 'live'").run()).rejects.toThrow("never deleted");
    await expect(env.DB.prepare("DELETE FROM entity_lists WHERE environment = 'live'").run()).rejects.toThrow("never deleted");
  });
});
