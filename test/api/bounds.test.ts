// Tests that strangers who know a public client ID can store only a limited amount and cannot block other submissions. Also tests that
// searches stay cheap as the number of certificates grows.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { dayMs, toIso } from "../../core/time.ts";
import { countNewCertificates } from "../../storage/certificate-counters.ts";
import { openDatabase } from "../../storage/database.ts";
import {
  buildConsentRequest,
  call,
  issueCertificate,
  createServiceCall,
  buildSubmission,
  world,
  type TestResponse,
  type Call,
  type ConsentBody,
} from "../support/world.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { forgetOwnerNotices } from "../support/people.ts";
import { listMailTo } from "../support/withdrawal.ts";

const published = { DEV_RATE_SCALE: "1", SHIELD: undefined };
let ip = 0;
const send = (service: Call, change: Partial<ConsentBody> = {}, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> => {
  ip += 1;
  const from = { "cf-connecting-ip": `10.1.${ip >> 8}.${ip & 255}`, ...headers };
  return service("/v1/consent", buildConsentRequest({ ...buildSubmission(), ...change }, from));
};
const withKey = { authorization: `Bearer ${world.acme.keys.live}` };
const getStatus = ({ status }: TestResponse): number => status;

// Each test runs on a different day and starts five minutes before the end of that day.
let day = Date.UTC(2027, 0, 1);
beforeEach(() => {
  day += 2 * dayMs;
  vi.useFakeTimers({ toFake: ["Date"], now: day + dayMs - 300_000 });
});
afterEach(async () => {
  await waitUntilSettled();
  vi.useRealTimers();
});

describe("C20: the daily limit of a client", () => {
  test("refuses further submissions without an API key until the next day, but no submissions of other clients or with an API key", async () => {
    const service = createServiceCall({ ...published, LIMIT_CLIENT_DAY: "3" });
    for (let sent = 0; sent < 3; sent += 1) expect((await send(service)).status).toBe(201);
    const refused = await send(service);
    expect([refused.status, refused.body.error.code, refused.headers.get("retry-after")]).toEqual([429, "rate_limited", "300"]);
    expect((await send(service, { client_id: world.acme.clients.sandbox })).status).toBe(201);
    expect((await send(service, {}, withKey)).status).toBe(201);
    vi.setSystemTime(day + dayMs);
    expect((await send(service)).status).toBe(201);
  });

  test("accepts exactly its limit of concurrent submissions", async () => {
    const service = createServiceCall({ ...published, LIMIT_CLIENT_DAY: "4" });
    const statuses = (await Promise.all(Array.from({ length: 12 }, () => send(service)))).map(getStatus);
    expect(statuses.toSorted()).toEqual([...Array(4).fill(201), ...Array(8).fill(429)]);
  });

  test("also counts bytes, and shared texts count only when they are new", async () => {
    const service = createServiceCall({ ...published, LIMIT_CLIENT_DAY_BYTES: "60000" });
    const buildDisclosure = (letter: string): Partial<ConsentBody> => ({ disclosure_text: letter.repeat(20_000) });
    expect((await send(service, buildDisclosure("a"))).status).toBe(201);
    for (let sent = 0; sent < 5; sent += 1) expect((await send(service, buildDisclosure("a"))).status).toBe(201);
    expect((await send(service, buildDisclosure("b"))).status).toBe(201);
    expect((await send(service, buildDisclosure("c"))).status).toBe(429);
    expect((await send(service, buildDisclosure("a"))).status).toBe(201);
  });

  test("returns the stored response to a repeated submission after the limit is reached", async () => {
    const service = createServiceCall({ ...published, LIMIT_CLIENT_DAY: "1" });
    const key = { "idempotency-key": "the-only-one-of-the-day" };
    const first = await send(service, {}, key);
    const repeated = await send(service, {}, key);
    expect([repeated.status, repeated.body.data.cert_id]).toEqual([201, first.body.data.cert_id]);
    expect((await send(service)).status).toBe(429);
  });

  test("uses the limit that the operator set for the client", async () => {
    const service = createServiceCall({ ...published, LIMIT_CLIENT_DAY: "1" });
    const raise = (limit: number | null) =>
      env.DB.prepare("UPDATE clients SET daily_submission_limit = ? WHERE id = ?").bind(limit, world.acme.clients.live).run();
    await raise(3);
    const statuses: number[] = [];
    for (let sent = 0; sent < 4; sent += 1) statuses.push((await send(service)).status);
    await raise(null);
    expect(statuses).toEqual([201, 201, 201, 429]);
  });

  test("alerts the owner once, when 80% of the limit is used", async () => {
    const service = createServiceCall({ ...published, LIMIT_CLIENT_DAY: "10" });
    const countWarnings = async (): Promise<number> =>
      (await listMailTo(world.ownerEmail)).filter(({ text }) => text.includes(world.acme.clients.live)).length;
    const before = await countWarnings();
    await forgetOwnerNotices();
    for (let sent = 0; sent < 7; sent += 1) await send(service);
    await waitUntilSettled();
    expect(await countWarnings()).toBe(before);
    await Promise.all(Array.from({ length: 3 }, () => send(service)));
    await waitUntilSettled();
    expect(await countWarnings()).toBe(before + 1);
  });

  test.each(["0", "-1", "1.5", "50000/86400", "many"])("refuses to start with LIMIT_CLIENT_DAY=%s", async (setting) => {
    await expect(createServiceCall({ ...published, LIMIT_CLIENT_DAY: setting })("/health")).rejects.toThrow("LIMIT_CLIENT_DAY");
  });
});

describe("C20: new combinations of purpose, recipients and domain", () => {
  const countCountedGroups = async (): Promise<number> =>
    (await env.DB.prepare("SELECT COUNT(*) AS n FROM certificate_groups WHERE counted = 1").first<{ n: number }>())?.n ?? 0;
  const search = async (q: string) =>
    (await call(`/v1/certs?q=${encodeURIComponent(q)}`, { headers: { authorization: `Bearer ${world.acme.keys.live}` } })).body.data;

  test("get counters up to the daily limit of the client, and every certificate beyond it is issued and found", async () => {
    const service = createServiceCall({ ...published, LIMIT_CLIENT_DAY_GROUPS: "2" });
    const before = await countCountedGroups();
    for (let at = 0; at < 5; at += 1) expect((await send(service, { purpose: `invented purpose ${at}` })).status).toBe(201);
    expect((await countCountedGroups()) - before).toBe(2);
    const found = await search("invented purpose");
    expect([found.total, found.certs.map(({ purpose }: { purpose: string }) => purpose), found.truncated]).toEqual([
      5,
      [4, 3, 2, 1, 0].map((at) => `invented purpose ${at}`),
      undefined,
    ]);
    expect((await search("invented purpose 4")).total).toBe(1);
    expect((await send(service, { purpose: "known later" }, { authorization: `Bearer ${world.acme.keys.live}` })).status).toBe(201);
    expect((await countCountedGroups()) - before).toBe(3);
  });
});

describe("C20: a list of recipients", () => {
  test("is stored once, however many certificates name it", async () => {
    const entities = Array.from({ length: 1_000 }, (_, at) => `Partner ${at} ${"x".repeat(150)}`);
    const countEntityLists = async () => (await env.DB.prepare("SELECT COUNT(*) AS n FROM entity_lists").first<{ n: number }>())?.n ?? 0;
    const before = await countEntityLists();
    const ids = [
      (await issueCertificate({ entities })).cert_id,
      (await issueCertificate({ entities: entities.toReversed(), purpose: "another" })).cert_id,
    ];
    expect(await countEntityLists()).toBe(before + 1);
    for (const id of ids) {
      const row = await env.DB.prepare("SELECT * FROM certificates WHERE id = ?").bind(id).first();
      expect(JSON.stringify(row)).not.toContain("Partner");
    }
  });
});

describe("C21: submissions that are refused for their Origin", () => {
  test("count only against their sender's address, so the client still works from the browser and with the API key", async () => {
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_CLIENT: "3/60" });
    for (let sent = 0; sent < 8; sent += 1)
      expect((await send(service, {}, { origin: "https://evil.example" })).body.error.code).toBe("origin_not_verified");
    for (let sent = 0; sent < 3; sent += 1) expect((await send(service)).status).toBe(201);
    expect((await send(service)).status).toBe(429);
    expect((await send(service, {}, withKey)).status).toBe(201);
  });

  test("do not share a limit with submissions that carry the API key", async () => {
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_CLIENT: "2/60" });
    for (let sent = 0; sent < 5; sent += 1) expect((await send(service, {}, withKey)).status).toBe(201);
    expect([getStatus(await send(service)), getStatus(await send(service)), getStatus(await send(service))]).toEqual([201, 201, 429]);
  });
});

const createRowCounter = (): { readonly db: D1Database; readonly read: () => number } => {
  let rows = 0;
  const db = new Proxy(env.DB, {
    get: (target, name) => {
      if (name === "batch")
        return async (statements: D1PreparedStatement[]) => {
          const results = await target.batch(statements);
          for (const { meta } of results) rows += meta.rows_read;
          return results;
        };
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { db, read: () => rows };
};

describe("POST /v1/contact-check", () => {
  const entity = "Partner 999";
  /** Seeds `count` certificates for one email address. Each has a thousand recipients and records a choice for each of them. */
  const seedAddress = async (email: string, count: number): Promise<void> => {
    const entities = Array.from({ length: 1_000 }, (_, at) => `Partner ${at}`);
    const { cert_id: first } = await issueCertificate({ fields: { email }, entities, entities_accepted: [], entities_rejected: entities });
    const { results } = await env.DB.prepare(
      "SELECT name FROM pragma_table_info('certificates') WHERE name NOT IN ('ord', 'id', 'issued_at')",
    ).all<{ name: string }>();
    const columns = results.map(({ name }) => name).join(", ");
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       INSERT INTO certificates (id, issued_at, ${columns})
       SELECT printf('cc_00%s%019d', ?3, i), issued_at - i * 60000, ${columns} FROM n, certificates WHERE id = ?2`,
    )
      .bind(count - 1, first, crypto.randomUUID().slice(0, 5))
      .run();
    await env.DB.prepare(
      `INSERT OR IGNORE INTO certificate_addresses (cert_ord, address_index, business_id, environment, issued_at)
       SELECT ord, email_indexes ->> 0, business_id, environment, issued_at FROM certificates
       WHERE email_indexes = (SELECT email_indexes FROM certificates WHERE id = ?)`,
    )
      .bind(first)
      .run();
  };
  const measureCheck = async (subjects: readonly object[], more: object = {}) => {
    const { db, read } = createRowCounter();
    const service = createServiceCall({ DB: db });
    const body = JSON.stringify({ subjects, ...more });
    const response = await service("/v1/contact-check", {
      method: "POST",
      headers: { ...withKey, "content-type": "application/json" },
      body,
    });
    return { results: response.body.data.results, rows: read() };
  };

  test("checks an address once, however often and in whatever spelling it is requested", { timeout: 60_000 }, async () => {
    await seedAddress("many@example.com", 200);
    const once = await measureCheck([{ email: "many@example.com" }], { entity });
    const often = await measureCheck(
      Array.from({ length: 100 }, (_, at) =>
        at % 2 === 0 ? { email: ` MANY@example.com ` } : { email_sha256: sha256Hex("many@example.com") },
      ),
      { entity },
    );
    expect(often.results).toHaveLength(100);
    expect(new Set(often.results.map(({ reason }: { reason: string }) => reason))).toEqual(new Set(["rejected_recipient"]));
    expect(often.rows - once.rows).toBeLessThan(200);
  });

  test("reads a few rows per certificate, not the recipients, and at most the newest thousand", { timeout: 60_000 }, async () => {
    await seedAddress("hostile@example.com", 1_000);
    const full = await measureCheck([{ email: "hostile@example.com" }], { entity, purpose: "solar quote follow-up" });
    expect(full.results[0].truncated).toBeUndefined();
    expect(full.rows).toBeLessThan(12_000);
    await seedAddress("hostile@example.com", 3_000);
    const truncated = await measureCheck([{ email: "hostile@example.com" }], { entity });
    expect(truncated.results[0].truncated).toBe(true);
    expect(truncated.rows).toBeLessThan(12_000);
  });
});

describe("GET /v1/certs with filters", () => {
  test("reads about as many rows among five thousand certificates as among five hundred", { timeout: 60_000 }, async () => {
    const daysBack = 100;
    const { cert_id: first } = await issueCertificate({ purpose: "growth", entities: ["Growth Inc", "Other Inc"] });
    const columns = (
      await env.DB.prepare("SELECT name FROM pragma_table_info('certificates') WHERE name NOT IN ('ord', 'id', 'issued_at')").all<{
        name: string;
      }>()
    ).results.map(({ name }) => name);
    const start = day - daysBack * dayMs;
    const growTo = async (from: number, targetCount: number, everyMs: number): Promise<void> => {
      await env.DB.prepare(
        `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         INSERT INTO certificates (id, issued_at, ${columns.join(", ")})
         SELECT printf('cc_00%024d', i), ?3 + (i - ?1) * ?4, ${columns.join(", ")} FROM n, certificates WHERE id = ?5`,
      )
        .bind(from, targetCount, start, everyMs, first)
        .run();
      while (await countNewCertificates(openDatabase(env.DB), Date.now()));
    };
    const formatTime = (days: number, ms: number): string => toIso(start + days * dayMs + ms);
    const searches = [
      "entity=Growth%20Inc",
      "entity=Nobody",
      "origin_domain=www.example.com",
      "q=growth",
      `from=${formatTime(10, 12_345)}`,
      `to=${formatTime(60, 12_345)}`,
      `from=${formatTime(10, 5_000_001)}&to=${formatTime(80, 7_000_001)}`,
      `from=${formatTime(10, 1)}&to=${formatTime(80, 1)}&entity=Growth%20Inc&origin_domain=www.example.com&status=active`,
      `from=${formatTime(10, 1)}&to=${formatTime(80, 1)}&status=revoked`,
    ];
    const measureSearchCosts = async (): Promise<{ readonly rows: number; readonly total: number }[]> => {
      const all: { rows: number; total: number }[] = [];
      for (const search of searches) {
        const { db, read } = createRowCounter();
        const listed = await createServiceCall({ DB: db })(`/v1/certs?per_page=5&${search}`, { headers: withKey });
        all.push({ rows: read(), total: listed.body.data.total });
      }
      return all;
    };
    await growTo(1, 500, (daysBack * dayMs) / 500);
    const small = await measureSearchCosts();
    await growTo(500, 5_000, (daysBack * dayMs) / 4_500);
    const large = await measureSearchCosts();
    const grown = searches.map((search, index) => {
      const [before, after] = [small[index], large[index]];
      return { search, more: (after?.rows ?? 0) - (before?.rows ?? 0), certificates: (after?.total ?? 0) - (before?.total ?? 0) };
    });
    // In the larger data set, a search may read up to 60 more rows. At each end of its range, it counts up to 24 hours one by one, and only
    // in the larger data set do all of these hours contain certificates.
    expect(grown.filter(({ more }) => more > 60)).toEqual([]);
    expect(grown.filter(({ certificates }) => certificates > 2_000).length).toBeGreaterThanOrEqual(6);
    expect(small.every(({ rows }) => rows > 0)).toBe(true);
  });
});
