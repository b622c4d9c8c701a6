// Tests API keys and public clients. A key is shown only once and works until it is revoked. A business can have a limited number of keys
// and clients.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { clearCodes, signIn } from "../../support/people.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness, describeOutcome, type Person } from "../../support/portal.ts";
import { readDatabaseContents, getWithKey, buildSubmission, submitConsent, origin, world } from "../../support/world.ts";

let round = 0;
let owner: Person & { id: string; userId: string };
beforeEach(async () => {
  round += 1;
  owner = await signUpBusiness(`owner-${round}@keys.example`);
});
afterEach(() => vi.useRealTimers());

const create = (body: object = { name: "CRM" }, headers: Record<string, string> = {}) => callPortal(owner, "POST", "/keys", body, headers);
const list = async () => (await callPortal(owner, "GET", "/keys")).body.data.keys as Record<string, unknown>[];
const readKeyLastUsed = async (id: string): Promise<unknown> => (await list()).find((key) => key.id === id)?.last_used_at;

describe("POST /v1/business/portal/keys", () => {
  test("returns a key that reads the business's records, and neither shows it again nor stores it in plaintext", async () => {
    const created = await create({ name: " CRM " });
    expect(created.status).toBe(201);
    const { id, key, last4, created_at, ...rest } = created.body.data;
    expect(id).toMatch(/^key_00[0-9a-hjkmnp-tv-z]{24}$/);
    expect(key).toMatch(/^sk_live_00[A-Za-z0-9_-]{43}$/);
    expect(last4).toBe(key.slice(-4));
    expect(rest).toEqual({ name: "CRM", environment: "live" });
    expect(describeOutcome(await getWithKey("/v1/certs", key))).toBe("200 ok");
    const shown = await callPortal(owner, "GET", "/keys");
    expect(shown.text).not.toContain(key);
    expect(shown.body.data.keys).toEqual([
      { id, name: "CRM", environment: "live", prefix: "sk_live_", last4, created_at, last_used_at: expect.any(String), revoked_at: null },
    ]);
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(key);
    expect(await listAuditEntryTypes(owner.id)).toEqual(["business.signed_up", "api_key.created"]);
  });

  test("returns a test key that reads sandbox records", async () => {
    const { key } = (await create({ name: "CI", environment: "test" })).body.data;
    expect(key).toMatch(/^sk_test_00/);
    expect(describeOutcome(await getWithKey("/v1/certs", key))).toBe("200 ok");
    expect((await list())[0]).toMatchObject({ environment: "test", prefix: "sk_test_" });
  });

  test("creates one key per idempotency key, and encrypts the stored response", async () => {
    const headers = { "idempotency-key": "key-1" };
    const responses = await Promise.all(Array.from({ length: 5 }, () => create({ name: "Once" }, headers)));
    expect(new Set(responses.map(({ body }) => body.data?.key)).size).toBe(1);
    expect(describeOutcome(await create({ name: "Another" }, headers))).toBe("409 idempotency_conflict");
    expect(await list()).toHaveLength(1);
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(responses[0]?.body.data.key);
  });

  test("returns 409 key_limit past twenty active keys, for any number of concurrent requests", async () => {
    const outcomes = (await Promise.all(Array.from({ length: 25 }, (_, at) => create({ name: `key ${at}` })))).map(describeOutcome);
    expect(outcomes.filter((outcome) => outcome === "201 ok")).toHaveLength(20);
    expect(outcomes.filter((outcome) => outcome === "409 key_limit")).toHaveLength(5);
    expect((await listAuditEntryTypes(owner.id)).filter((type) => type === "api_key.created")).toHaveLength(20);
    const [first] = await list();
    await callPortal(owner, "DELETE", `/keys/${first?.id}`);
    expect(describeOutcome(await create())).toBe("201 ok");
  });

  test("writes a key's date of last use only once a day", async () => {
    const day = Date.UTC(2033, 4, round, 10);
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(day);
    await clearCodes();
    owner = await signUpBusiness(`late-${round}@keys.example`);
    const { id, key } = (await create()).body.data;
    expect(await readKeyLastUsed(id)).toBeNull();
    await getWithKey("/v1/certs", key);
    const today = new Date(day - (day % 86_400_000)).toISOString();
    await vi.waitFor(async () => expect(await readKeyLastUsed(id)).toBe(today), { interval: 20, timeout: 20_000 });
    await env.DB.prepare(
      "CREATE TRIGGER no_second BEFORE UPDATE OF last_used_at ON api_keys BEGIN SELECT RAISE(ABORT, 'written again'); END",
    ).run();
    const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (let at = 0; at < 3; at += 1) await getWithKey("/v1/certs", key);
    await getWithKey("/v1/certs", key);
    expect(silent).not.toHaveBeenCalled();
    silent.mockRestore();
    await env.DB.prepare("DROP TRIGGER no_second").run();
    vi.setSystemTime(day + 86_400_000);
    await getWithKey("/v1/certs", key);
    const tomorrow = new Date(day - (day % 86_400_000) + 86_400_000).toISOString();
    const readLastUsed = () => env.DB.prepare("SELECT last_used_at FROM api_keys WHERE id = ?").bind(id).first("last_used_at");
    await vi.waitFor(async () => expect(new Date(Number(await readLastUsed())).toISOString()).toBe(tomorrow), {
      interval: 20,
      timeout: 20_000,
    });
  });

  test("creates a key that stops working as soon as it is revoked", async () => {
    const { id, key } = (await create()).body.data;
    expect(describeOutcome(await getWithKey("/v1/certs", key))).toBe("200 ok");
    expect((await callPortal(owner, "DELETE", `/keys/${id}`)).body.data).toEqual({ revoked: true });
    expect(describeOutcome(await getWithKey("/v1/certs", key))).toBe("401 unauthorized");
    expect((await callPortal(owner, "DELETE", `/keys/${id}`)).body.data).toEqual({ revoked: true });
    expect((await list())[0]).toMatchObject({ id, revoked_at: expect.any(String) });
    expect((await listAuditEntryTypes(owner.id)).slice(1)).toEqual(["api_key.created", "api_key.revoked"]);
  });

  test.each([
    ["no name", {}],
    ["a blank name", { name: "  " }],
    ["a long name", { name: "x".repeat(81) }],
    ["a name with a control character", { name: "a\u0000" }],
    ["an unknown environment", { name: "a", environment: "sandbox" }],
  ])("returns 400 invalid_request with %s", async (_name, body) => {
    const before = await readDatabaseContents();
    expect(describeOutcome(await create(body))).toBe("400 invalid_request");
    expect(await readDatabaseContents()).toEqual(before);
  });
});

describe("POST /v1/business/portal/clients", () => {
  test("returns a client id of its environment that issues certificates for the business", async () => {
    const created = await callPortal(owner, "POST", "/clients", { name: "Landing pages", environment: "sandbox" });
    expect(created.status).toBe(201);
    expect(created.body.data).toEqual({
      client_id: expect.stringMatching(/^pc_test_00/),
      name: "Landing pages",
      environment: "sandbox",
      created_at: expect.any(String),
      return_urls: [],
      require_origin: false,
    });
    const form = { ...buildSubmission(), client_id: created.body.data.client_id, page_url: "http://localhost:3000/" };
    const issued = await submitConsent(form, { origin: "http://localhost:3000" });
    expect([issued.status, issued.body.data.environment]).toEqual([201, "sandbox"]);
    expect(await listAuditEntryTypes(owner.id)).toContain("client.created");
  });

  test("defaults to live, creates one client per idempotency key, and returns 409 client_limit past fifty", async () => {
    const key = { "idempotency-key": "client-1" };
    const body = { name: "Website" };
    const [first, second] = [
      await callPortal(owner, "POST", "/clients", body, key),
      await callPortal(owner, "POST", "/clients", body, key),
    ];
    expect(first.body.data.client_id).toMatch(/^pc_live_/);
    expect(second.body.data).toEqual(first.body.data);
    const outcomes = (await Promise.all(Array.from({ length: 50 }, () => callPortal(owner, "POST", "/clients", body)))).map(
      describeOutcome,
    );
    expect(outcomes.filter((outcome) => outcome === "409 client_limit")).toHaveLength(3);
    expect((await callPortal(owner, "GET", "/clients")).body.data.clients).toHaveLength(50);
  });
});

describe("PATCH /v1/business/portal/clients/{client_id}", () => {
  const buildPath = (clientId: string = world.acme.clients.live): string => `/clients/${clientId}`;
  const readListedClient = async (): Promise<{ return_urls: readonly string[]; require_origin: boolean }> =>
    (await callPortal(acmeOwner, "GET", "/clients")).body.data.clients.find(
      ({ client_id }: { client_id: string }) => client_id === world.acme.clients.live,
    );
  const readStoredUrls = async (): Promise<readonly string[]> => (await readListedClient()).return_urls;
  let acmeOwner: Awaited<ReturnType<typeof signIn>>;
  beforeAll(async () => {
    await clearCodes();
    acmeOwner = await signIn(world.ownerEmail);
  });

  test("replaces the return URLs, without duplicates, and records the change in the audit trail once", async () => {
    const urls = [`${origin}/quote?step=2`, `${origin}`, `${origin}/`];
    const changed = await callPortal(acmeOwner, "PATCH", buildPath(), { return_urls: urls });
    expect(changed.body.data).toMatchObject({
      client_id: world.acme.clients.live,
      return_urls: [`${origin}/quote?step=2`, `${origin}/`],
    });
    await callPortal(acmeOwner, "PATCH", buildPath(), { return_urls: urls });
    expect(await readStoredUrls()).toEqual([`${origin}/quote?step=2`, `${origin}/`]);
    const entries = (await listAuditEntryTypes(world.acme.id)).filter((type) => type === "client.return_urls_changed");
    expect(entries).toHaveLength(1);
    await callPortal(acmeOwner, "PATCH", buildPath(), { return_urls: [] });
    expect(await readStoredUrls()).toEqual([]);
  });

  test("changes require_origin without the return URLs, and the return URLs without require_origin", async () => {
    const before = (await listAuditEntryTypes(world.acme.id)).length;
    const urls = [`${origin}/quote`];
    await callPortal(acmeOwner, "PATCH", buildPath(), { return_urls: urls, require_origin: null });
    expect(await readListedClient()).toMatchObject({ return_urls: urls, require_origin: false });
    const changed = await callPortal(acmeOwner, "PATCH", buildPath(), { require_origin: true });
    expect(changed.body.data).toMatchObject({ return_urls: urls, require_origin: true });
    await callPortal(acmeOwner, "PATCH", buildPath(), { require_origin: true });
    expect(await readListedClient()).toMatchObject({ return_urls: urls, require_origin: true });
    await callPortal(acmeOwner, "PATCH", buildPath(), { return_urls: [], require_origin: false });
    expect(await readListedClient()).toMatchObject({ return_urls: [], require_origin: false });
    expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toEqual([
      "client.return_urls_changed",
      "client.require_origin_changed",
      "client.return_urls_changed",
      "client.require_origin_changed",
    ]);
  });

  test("records one change when requests set the same values at the same time", async () => {
    const before = (await listAuditEntryTypes(world.acme.id)).length;
    const settings = { return_urls: [`${origin}/at-once`], require_origin: true };
    await Promise.all(Array.from({ length: 5 }, () => callPortal(acmeOwner, "PATCH", buildPath(), settings)));
    expect(await readListedClient()).toMatchObject(settings);
    expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toEqual([
      "client.return_urls_changed",
      "client.require_origin_changed",
    ]);
    await callPortal(acmeOwner, "PATCH", buildPath(), { return_urls: [], require_origin: false });
  });

  test.each([
    ["nothing to change", {}],
    ["only null", { return_urls: null, require_origin: null }],
    ["require_origin as text", { require_origin: "true" }],
    ["a valid and an invalid change", { return_urls: ["https://elsewhere.example/"], require_origin: true }],
  ])("returns 400 invalid_request with %s", async (_name, body) => {
    expect(describeOutcome(await callPortal(acmeOwner, "PATCH", buildPath(), body))).toBe("400 invalid_request");
    expect(await readListedClient()).toMatchObject({ return_urls: [], require_origin: false });
  });

  test.each([
    ["a host that is not verified", ["https://elsewhere.example/"]],
    ["another port", [`${origin}:8443/`]],
    ["plain http", [origin.replace("https", "http")]],
    ["a fragment", [`${origin}/#here`]],
    ["a user name", [origin.replace("https://", "https://user@")]],
    ["a script", ["javascript:alert(1)"]],
    ["no URL", ["/quote"]],
    ["a long URL", [`${origin}/${"x".repeat(2_048)}`]],
    ["21 URLs", Array.from({ length: 21 }, (_, at) => `${origin}/${at}`)],
  ])("returns 400 invalid_request with %s", async (_name, return_urls) => {
    expect(describeOutcome(await callPortal(acmeOwner, "PATCH", buildPath(), { return_urls }))).toBe("400 invalid_request");
    expect(await readStoredUrls()).toEqual([]);
  });

  test("is for owners of the client's business only", async () => {
    const body = { return_urls: [`${origin}/`], require_origin: true };
    expect(describeOutcome(await callPortal(owner, "PATCH", buildPath(), body))).toBe("404 not_found");
    expect(describeOutcome(await callPortal(acmeOwner, "PATCH", buildPath(world.other.clients.live), body))).toBe("404 not_found");
    expect(describeOutcome(await callPortal(await signIn(world.memberEmail), "PATCH", buildPath(), body))).toBe("403 owner_required");
    expect(await readListedClient()).toMatchObject({ return_urls: [], require_origin: false });
  });
});

describe("permissions on keys and clients", () => {
  test("let members read and owners change; another business's owner gets 404, a consumer 403", async () => {
    const { id } = (await create()).body.data;
    await clearCodes();
    const other = await signIn(world.otherOwnerEmail);
    const member = await signIn(world.memberEmail);
    const consumer = await signIn(world.consumerEmail, "consumer");
    const before = await readDatabaseContents();
    expect(describeOutcome(await callPortal(other, "DELETE", `/keys/${id}`))).toBe("404 not_found");
    expect(describeOutcome(await callPortal(other, "DELETE", "/keys/key_unknown"))).toBe("404 not_found");
    expect(JSON.stringify((await callPortal(other, "GET", "/keys")).body)).not.toContain(id);
    for (const path of ["/keys", "/clients"]) {
      expect(describeOutcome(await callPortal(member, "GET", path))).toBe("200 ok");
      expect(describeOutcome(await callPortal(member, "POST", path, { name: "x" }))).toBe("403 owner_required");
      expect(describeOutcome(await callPortal(consumer, "GET", path))).toBe("403 forbidden");
      expect(describeOutcome(await callPortal(consumer, "POST", path, { name: "x" }))).toBe("403 forbidden");
      expect(describeOutcome(await callPortal(null, "POST", path, { name: "x" }))).toBe("401 unauthorized");
      expect(describeOutcome(await callPortal(owner, "POST", path, { name: "x" }, { origin: "https://evil.example" }))).toBe(
        "403 csrf_failed",
      );
    }
    expect(describeOutcome(await callPortal(member, "DELETE", `/keys/${id}`))).toBe("403 owner_required");
    expect(await readDatabaseContents()).toEqual(before);
  });
});
