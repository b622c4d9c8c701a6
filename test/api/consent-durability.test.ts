// Tests what POST /v1/consent guarantees about storage. A submission is stored completely or not at all. Nothing is stored if the account,
// client or domain stops allowing the submission before the write. All personal data is encrypted. Work after the issuance can fail without
// affecting the certificate.
import { auditEntriesSql, statementsSql } from "../support/statements-sql.ts";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test } from "vitest";
import { expectCountersRight } from "../support/certificate-counters.ts";
import { toBase64, encodeUtf8 } from "../../core/bytes.ts";
import {
  call,
  buildConsentRequest,
  readDatabaseContents,
  getWithKey,
  countRows,
  createServiceCall,
  buildSubmission,
  world,
  type TestResponse,
} from "../support/world.ts";

const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "issued"}`;
const other = world.other;
const asOther = { ...buildSubmission(other), page_url: "https://other.example/quote" };
const fromOther = { origin: "https://other.example" };
const run = (sql: string, ...bound: (string | number)[]): Promise<unknown> =>
  env.DB.prepare(sql)
    .bind(...bound)
    .run();

const restore = async (): Promise<void> => {
  await run("UPDATE businesses SET status = 'active', plan = 'enterprise', name = ? WHERE id = ?", other.name, other.id);
  await run(
    `INSERT INTO domains (id, business_id, domain, status, method, verified_at, created_at) VALUES ('dom_restored', ?, 'other.example', 'verified', 'dns', 0, 0)
     ON CONFLICT (business_id, domain) DO UPDATE SET status = 'verified', method = 'dns'`,
    other.id,
  );
};

/** Wraps the database. Makes one change between the reads and the writes of the first issuance. */
const createInterruptedDb = (change: () => Promise<unknown>): D1Database => {
  let writes = false;
  let isDone = false;
  return {
    prepare: (sql: string) => {
      writes ||= sql.startsWith('insert into "certificates"');
      return env.DB.prepare(sql);
    },
    batch: async (statements: D1PreparedStatement[]) => {
      if (writes && !isDone) {
        isDone = true;
        await change();
      }
      return env.DB.batch(statements);
    },
  } as unknown as D1Database;
};

describe("an account that changes between the reads and the writes of POST /v1/consent", () => {
  afterEach(restore);

  test.each<readonly [string, () => Promise<unknown>, string]>([
    ["suspended", () => run("UPDATE businesses SET status = 'suspended' WHERE id = ?", other.id), "402 business_suspended"],
    ["closed", () => run("UPDATE businesses SET status = 'closed' WHERE id = ?", other.id), "402 business_inactive"],
    ["past due", () => run("UPDATE businesses SET status = 'past_due' WHERE id = ?", other.id), "402 subscription_past_due"],
    ["downgraded", () => run("UPDATE businesses SET plan = 'business' WHERE id = ?", other.id), "402 plan_required"],
    ["without its domain", () => run("DELETE FROM domains WHERE business_id = ?", other.id), "403 origin_not_verified"],
    [
      "with its domain lapsed",
      () => run("UPDATE domains SET status = 'lapsed' WHERE business_id = ?", other.id),
      "403 origin_not_verified",
    ],
  ])("%s: no certificate is issued, and the refusal gives the reason", async (_name, change, expected) => {
    const before = await countRows();
    const service = createServiceCall({ DB: createInterruptedDb(change) });
    expect(describeOutcome(await service("/v1/consent", buildConsentRequest(asOther, { ...fromOther, "idempotency-key": "race" })))).toBe(
      expected,
    );
    expect(await countRows()).toEqual(before);
    await expectCountersRight();
  });

  test("with its verification narrowed to the exact host: a subdomain is refused", async () => {
    const service = createServiceCall({
      DB: createInterruptedDb(() => run("UPDATE domains SET method = 'meta' WHERE business_id = ?", other.id)),
    });
    const response = await service("/v1/consent", buildConsentRequest(asOther, { origin: "https://shop.other.example" }));
    expect(describeOutcome(response)).toBe("403 origin_not_verified");
  });

  test("renamed: the certificate contains the name at the time of the write", async () => {
    const service = createServiceCall({
      DB: createInterruptedDb(() => run("UPDATE businesses SET name = 'Renamed Inc' WHERE id = ?", other.id)),
    });
    const { body } = await service("/v1/consent", buildConsentRequest(asOther, fromOther));
    expect((await getWithKey(`/v1/certs/${body.data.cert_id}/verify`)).body.data.business_name).toBe("Renamed Inc");
  });

  test("without its client: no certificate is issued", async () => {
    await run(
      "INSERT INTO clients (id, business_id, environment, name, created_at) VALUES ('pc_live_0000000000000000000000gone', ?, 'live', 'x', 0)",
      other.id,
    );
    const before = await countRows();
    const service = createServiceCall({
      DB: createInterruptedDb(() => run("DELETE FROM clients WHERE id = 'pc_live_0000000000000000000000gone'")),
    });
    const response = await service(
      "/v1/consent",
      buildConsentRequest({ ...asOther, client_id: "pc_live_0000000000000000000000gone" }, fromOther),
    );
    expect(describeOutcome(response)).toBe("404 client_not_found");
    expect(await countRows()).toEqual(before);
  });

  test.each<readonly [string, string, string, number]>([
    ["a downgrade", "UPDATE businesses SET plan = 'free' WHERE id = ?", "402 plan_required", 200],
    ["a suspension", "UPDATE businesses SET status = 'suspended' WHERE id = ?", "402 business_suspended", 60],
    ["the removal of the domain", "DELETE FROM domains WHERE business_id = ?", "403 origin_not_verified", 60],
  ])(
    "%s among concurrent submissions: no certificate is committed after it, and every 201 came before it",
    async (_name, sql, expected, posts) => {
      const before = (await countRows()).certificates ?? 0;
      let lastBefore = 0;
      const change = async (): Promise<void> => {
        const [, last] = await env.DB.batch<{ ord: number }>([
          env.DB.prepare(sql).bind(other.id),
          env.DB.prepare("SELECT COALESCE(MAX(ord), 0) AS ord FROM certificates"),
        ]);
        lastBefore = last?.results[0]?.ord ?? 0;
      };
      const responses: TestResponse[] = [];
      const post = async (): Promise<void> => {
        responses.push(await call("/v1/consent", buildConsentRequest(asOther, fromOther)));
      };
      const sendWave = (count: number): Promise<unknown> => Promise.all(Array.from({ length: count }, post));
      await sendWave(20);
      const storm = sendWave(posts - 40);
      await change();
      await storm;
      await sendWave(20);
      const issued = responses.filter(({ status }) => status === 201).length;
      expect(new Set(responses.map(describeOutcome))).toEqual(new Set(["201 issued", expected]));
      expect(((await countRows()).certificates ?? 0) - before).toBe(issued);
      expect(
        await env.DB.prepare("SELECT COUNT(*) AS n FROM certificates WHERE business_id = ? AND ord > ?")
          .bind(other.id, lastBefore)
          .first("n"),
      ).toBe(0);
      await expectCountersRight();
    },
    60_000,
  );
});

/**
 * Counts the rows that issuances have stored, and pending work that belongs to no certificate. The counts do not depend on how much of the
 * background work is done.
 */
const countIssuances = async (): Promise<unknown> =>
  env.DB.prepare(
    `SELECT (SELECT COUNT(*) FROM certificates) AS certificates, (SELECT COUNT(*) FROM disclosures) AS disclosures,
       (SELECT COUNT(*) FROM purposes) AS purposes, (SELECT COUNT(*) FROM certificate_groups) AS groups,
       (SELECT COUNT(*) FROM ${auditEntriesSql} WHERE type = 'certificate.issued') AS audited,
       (SELECT COUNT(*) FROM ${statementsSql} WHERE event = 'certificate.issued') AS anchored,
       (SELECT COUNT(*) FROM policy_pages
         WHERE ord NOT IN (SELECT policy_page_id FROM certificates WHERE policy_page_id IS NOT NULL)) AS orphans`,
  ).first();

describe("a failing table", () => {
  const tables = ["purposes", "disclosures", "certificates", "policy_pages", "changes"] as const;

  test.each(tables)("%s: returns 503, stores nothing anywhere, and the next call works (O10)", async (table) => {
    const service = createServiceCall();
    const origin = `https://${table.replace("_", "-")}.other.example`; // uses a separate host, whose policies are not captured yet
    const body = {
      ...asOther,
      purpose: `a purpose for ${table}`,
      disclosure_text: `A disclosure for ${table}.`,
      fields: { email: `${table}@example.com` },
    };
    const send = (): Promise<TestResponse> =>
      service("/v1/consent", buildConsentRequest(body, { origin, "idempotency-key": `fails-${table}` }));
    const before = await countIssuances();
    await run(`CREATE TRIGGER broken BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'injected fault'); END`);
    const refused = await send();
    await run("DROP TRIGGER broken");
    expect(describeOutcome(refused)).toBe("503 storage_unavailable");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(refused.text).not.toContain("injected");
    expect(await countIssuances()).toEqual(before);
    const repeated = await send();
    expect(describeOutcome(repeated)).toBe("201 issued");
    expect((await getWithKey(`/v1/certs/${repeated.body.data.cert_id}/verify`)).status).toBe(200);
    await expectCountersRight();
  });

  test.each<readonly [string, string]>([
    ["a locked database", "D1_ERROR: database is locked: SQLITE_BUSY"],
    ["a lost connection", "Network connection lost."],
    ["an overloaded database", "D1 DB is overloaded. Too many requests queued."],
    ["a database that was reset", "D1_ERROR: D1 DB reset because its code was updated."],
    ["a database that takes too long", "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset."],
    ["an internal error of the database", "D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset."],
  ])("%s: returns 503 for reads and writes, without the database's message", async (_name, message) => {
    const rejectQuery = (): Promise<never> => Promise.reject(new Error(message));
    const statement = { bind: () => statement, first: rejectQuery, all: rejectQuery, run: rejectQuery, raw: rejectQuery };
    // Returns no cached account, because the journal would accept submissions for a cached account.
    const withoutCopies = { get: async () => null };
    const service = createServiceCall({ DB: { prepare: () => statement, batch: rejectQuery }, KV: withoutCopies });
    const keyed = { headers: { authorization: `Bearer ${world.acme.keys.live}` } };
    const responses = [
      await service("/v1/consent", buildConsentRequest(buildSubmission())),
      await service("/v1/certs/cc_00000000000000000000000000/verify"),
      await service("/v1/certs", keyed),
    ];
    for (const response of responses) {
      expect(describeOutcome(response)).toBe("503 storage_unavailable");
      expect(response.headers.get("retry-after")).toBe("1");
      expect(response.body.error.message).not.toMatch(/D1|SQLITE/);
    }
  });
});

describe("work after an issuance", () => {
  test.each(["policy_captures", "policy_snapshots", "certificate_views"])(
    "may fail at %s without affecting the certificate",
    async (table) => {
      await run(`CREATE TRIGGER broken BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'injected fault'); END`);
      const response = await createServiceCall()("/v1/consent", buildConsentRequest(buildSubmission()));
      await run("DROP TRIGGER broken");
      expect(describeOutcome(response)).toBe("201 issued");
      expect((await getWithKey(`/v1/certs/${response.body.data.cert_id}/verify`)).status).toBe(200);
    },
  );

  test("may find the key-value store unavailable without affecting the certificate", async () => {
    const rejectRequest = (): Promise<never> => Promise.reject(new Error("KV PUT failed: 500"));
    const service = createServiceCall({ KV: { get: rejectRequest, put: rejectRequest, list: rejectRequest, delete: rejectRequest } });
    const response = await service("/v1/consent", buildConsentRequest(buildSubmission()));
    expect(describeOutcome(response)).toBe("201 issued");
    expect((await service(`/v1/certs/${response.body.data.cert_id}/verify`)).status).toBe(200);
  });
});

describe("POST /v1/consent at rest", () => {
  test("stores nothing of the person or the browser in the clear", async () => {
    const markers = {
      email: "marker-mailbox@marker-domain.example",
      phone: "+1 202 555 0199",
      first_name: "Markerfirst",
      last_name: "Märkerlåst",
      message: "marker message of the person",
      favourite_tree: "markeroak",
      query: "markerquery=person%40example.com",
      fragment: "markerfragment",
      referrer: "https://marker-referrer.example/search?q=marker",
      client_time: "marker-time",
      locale: "marker-locale",
      checkbox: "marker-checkbox",
      esign: "Marker e-sign disclosure",
      ip: "198.51.100.77",
      userAgent: "MarkerBrowser/1.0 (MarkerOS)",
      key: "marker-idempotency-key",
    };
    const { email, phone, first_name, last_name, message, favourite_tree } = markers;
    const response = await call(
      "/v1/consent",
      buildConsentRequest(
        {
          ...buildSubmission(),
          fields: { email, phone, first_name, last_name, message, favourite_tree },
          page_url: `https://www.example.com/quote?${markers.query}#${markers.fragment}`,
          referrer: markers.referrer,
          client_time: markers.client_time,
          locale: markers.locale,
          presentation: { checkbox_name: markers.checkbox },
          esign: { disclosure_text: markers.esign, accepted: true },
        },
        { "cf-connecting-ip": markers.ip, "user-agent": markers.userAgent, "idempotency-key": markers.key },
      ),
    );
    expect(response.status).toBe(201);
    const token = String(response.body.data.manage_url).split("#m=")[1] as string;
    const keyed = { headers: { authorization: `Bearer ${world.acme.keys.live}`, "cf-connecting-ip": markers.ip } };
    await call(`/v1/certs/${response.body.data.cert_id}`, keyed);
    await call(`/v1/certs/${response.body.data.cert_id}/evidence-pack`, keyed);
    await call(`/v1/certs?subject_email=${encodeURIComponent(email)}`, keyed);

    const contents = await readDatabaseContents();
    expect(contents.certificates).toContain(response.body.data.cert_id);
    expect(JSON.parse((await call(`/v1/certs/${response.body.data.cert_id}`, keyed)).text).data.subject.message).toBe(message);
    const keyValueEntries = await Promise.all((await env.KV.list()).keys.map(async ({ name }) => `${name} ${await env.KV.get(name)}`));
    const stored = [...Object.entries(contents).map((table) => table.join(" ")), ...keyValueEntries].join("\n").toLowerCase();
    const listEncodedForms = (text: string): string[] => [
      text,
      encodeURIComponent(text),
      toBase64(encodeUtf8(text)),
      JSON.stringify(text).slice(1, -1),
    ];
    const found = [...Object.values(markers), token, world.acme.keys.live, "12025550199", "marker-domain", "marker-referrer"].filter(
      (marker) => listEncodedForms(marker).some((form) => stored.includes(form.toLowerCase())),
    );
    expect(found).toEqual([]);
  });

  test("stores equal people as different values, except in the keyed index", async () => {
    const issued = await Promise.all([1, 2].map(() => call("/v1/consent", buildConsentRequest(buildSubmission()))));
    const ids = issued.map(({ body }) => body.data.cert_id);
    const { results } = await env.DB.prepare("SELECT * FROM certificates WHERE id IN (?, ?)")
      .bind(...ids)
      .all<Record<string, unknown>>();
    const [first, second] = results as [Record<string, unknown>, Record<string, unknown>];
    for (const column of ["person_sealed", "subject_hash", "fingerprint"]) expect(first[column], column).not.toEqual(second[column]);
    for (const column of ["email_indexes", "phone_indexes"]) {
      expect(first[column], column).toBe(second[column]);
      expect(first[column], column).toMatch(/^\["[0-9a-f]{32}"\]$/);
    }
  });
});
