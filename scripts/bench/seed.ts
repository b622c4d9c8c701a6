// Measures the cost of list, search and verify for businesses with different numbers of certificates (`--seed`). Rows of realistic size are
// seeded by SQL; their encrypted parts cannot be decrypted, and no measured route decrypts them.
import { runQueriesInTurn, withKey, type SeededService, type BenchQuery } from "./growth-queries.ts";
import { insertApiKeys, issueCertificate, origin, startBenchService, type Bench, type Service } from "./measured-service.ts";
import { consentRequest } from "./submission.ts";
import type { DemoBusiness } from "../demo-world.ts";
import type { D1Like } from "../local-databases.ts";

const purposes = Array.from(
  { length: 12 },
  (_, at) => `${["solar quote", "roof inspection", "heat pump offer", "newsletter"][at % 4]} campaign ${at}`,
);
const rowsPerStatement = 2_000; // with nearly a million rows in the table, a statement takes one or two seconds; the limit is 30 s
const revokedEvery = 50;
const oneYearMs = 365 * 24 * 3_600_000;

export const insertCertificates = async (db: D1Like, business: DemoBusiness, total: number, start: number): Promise<void> => {
  await db
    .prepare("INSERT OR IGNORE INTO disclosures (hash, text) VALUES (?, ?)")
    .bind("d".repeat(64), "By clicking Send I agree that Acme Solar LLC may call or email me about solar quotes.")
    .run();
  await db
    .prepare(
      `INSERT OR IGNORE INTO certificate_forms (disclosure_hash, client_id, business_name, captured_via, signature_kid)
       VALUES (?, ?, 'Acme Solar LLC', 'browser', ?)`,
    )
    .bind("d".repeat(64), business.clients.live, "k".repeat(43))
    .run();
  for (const purpose of purposes) {
    await db
      .prepare("INSERT OR IGNORE INTO purposes (business_id, environment, purpose, purpose_folded) VALUES (?, 'live', ?, ?)")
      .bind(business.id, purpose, purpose)
      .run();
    await db
      .prepare(
        `INSERT OR IGNORE INTO certificate_groups (purpose_id, entity_list_id, origin_domain, business_id, environment)
         SELECT p.id, (SELECT MIN(id) FROM entity_lists), 'www.example.com', p.business_id, p.environment FROM purposes p WHERE p.business_id = ? AND p.purpose = ?`,
      )
      .bind(business.id, purpose)
      .run();
  }
  for (let at = 0; at < total; at += rowsPerStatement) {
    const count = Math.min(rowsPerStatement, total - at);
    await db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1 + ?2)
         INSERT INTO certificates (id, business_id, environment, status, form_id, purpose_id, group_id, issued_at, fingerprint, subject_hash,
           subject_masked, person_sealed, email_indexes, phone_indexes, evidence_hash, signature, retention_until, change_ord)
         SELECT printf('cc_00%024d', i), ?3, 'live', CASE i % ${revokedEvery} WHEN 0 THEN 'revoked' ELSE 'active' END,
           (SELECT f.id FROM certificate_forms f WHERE f.disclosure_hash = ?4),
           (SELECT p.id FROM purposes p WHERE p.business_id = ?3 AND p.environment = 'live' AND p.purpose LIKE '%campaign ' || (i % 12)),
           (SELECT g.id FROM certificate_groups g JOIN purposes p ON p.id = g.purpose_id WHERE p.business_id = ?3 AND p.purpose LIKE '%campaign ' || (i % 12)),
           ?5 + i * 60, randomblob(32), randomblob(32),
           '{"email":"v***@e***.com","first_name":"P***","phone":"***-***-**23"}', randomblob(580), json_array(lower(hex(randomblob(16)))), json_array(lower(hex(randomblob(16)))),
           randomblob(32), randomblob(64), 0, 9007199254740991
         FROM n`,
      )
      .bind(at, count, business.id, "d".repeat(64), start)
      .run();
    process.stderr.write(`\r  seeding ${at + count} of ${total} certificates `);
  }
  process.stderr.write("\r");
};

/** Runs the cron job repeatedly until the counters include all but the newest certificates (fewer than 256). */
export const countCertificates = async ({ runtime, db }: Service): Promise<void> => {
  for (;;) {
    await runtime.scheduled("* * * * *");
    const left = await db
      .prepare("SELECT max(ord) - coalesce((SELECT ord FROM counted_certificates), 0) AS n FROM certificates")
      .first<{ n: number }>();
    if ((left?.n ?? 0) < 256) return;
  }
};

export const measureGrowth = async (bench: Bench & { readonly sizes: readonly number[]; readonly rounds: number }): Promise<void> => {
  const { acme } = bench.world;
  const known = 1_000_001;
  const { fields } = JSON.parse(consentRequest(acme, origin, known).body as string) as { fields: { email: string } };
  const queries: readonly BenchQuery[] = [
    ["list, first page", withKey("/v1/certs")],
    ["list, page 5", withKey("/v1/certs?page=5")],
    ["list, status=revoked", withKey("/v1/certs?status=revoked")],
    ["search by email", withKey(`/v1/certs?subject_email=${encodeURIComponent(fields.email)}`)],
    ["search by purpose, a quarter", withKey("/v1/certs?q=Roof")],
    ["search by purpose, one of 12", withKey("/v1/certs?q=campaign%2011")],
    ["search by purpose, none", withKey("/v1/certs?q=nothing%20like%20it")],
    ["search by recipient", withKey("/v1/certs?entity=Bright%20Homes%20Inc")],
    ["search by origin, none", withKey("/v1/certs?origin_domain=other.example.com")],
    [
      "search by time, a month",
      withKey(
        `/v1/certs?from=${new Date(Date.now() - oneYearMs).toISOString()}&to=${new Date(Date.now() - oneYearMs + 30 * 24 * 3_600_000).toISOString()}`,
      ),
    ],
    [
      "verify",
      ({ size }, n) => ({
        method: "GET",
        path: `/v1/certs/cc_00${String((n * 7_919) % size).padStart(24, "0")}/verify`,
        headers: { "cf-connecting-ip": `10.8.${(n >> 8) & 255}.${n & 255}` },
      }),
    ],
  ];
  const all: SeededService[] = [];
  for (const size of bench.sizes) {
    const service = await startBenchService(bench, `growth-${size}`);
    const keys = await insertApiKeys(service.db, acme, 400);
    await issueCertificate(service.url, acme, known); // the measured search finds this certificate by its email address
    await insertCertificates(service.db, acme, size, Date.now() - oneYearMs);
    await countCertificates(service);
    all.push({ ...service, size, keys });
  }
  await runQueriesInTurn(all, queries, bench.rounds);
  for (const { runtime } of all) await runtime.dispose();
};
