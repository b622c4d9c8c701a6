// The baseline: a Worker that does only the database work.
// - POST /write runs one D1 batch with the same statements as svc (storage/issuances.ts, storage/commit.ts)
// - GET /read/<id> runs one read by primary key
// - GET /page/<id>, /list/<key hash> and /detail/<key hash>/<id> make as many round trips to the database as the routes of svc, with
//   shorter queries

interface FloorEnv {
  readonly DB: D1Database;
  /**
   * The ID of the business that owns the certificates. It is a setting, because svc caches the ID instead of reading it for each request.
   */
  readonly BUSINESS_ID: string;
}

export const random = (length: number): string => {
  let text = "";
  while (text.length < length) text += crypto.randomUUID().replaceAll("-", "");
  return text.slice(0, length);
};

// These strings are about as long as those that the service stores for the benchmark's submission (scripts/bench/submission.ts).
const sealedPerson = "0".repeat(1164); // hex, two digits for each byte
const disclosure = "By clicking Send I agree that Acme Solar LLC may call or email me about solar quotes. Consent is not a condition.";

// SQL fragments for the client's daily usage (storage/client-usage.ts) and for the page whose policies are captured
// (storage/policy-pages.ts).
const daySubmissions = "coalesce((SELECT daily_submission_limit FROM clients WHERE id = ?1), 50000000)";
const dayBytes = "coalesce((SELECT daily_byte_limit FROM clients WHERE id = ?1), 200000000000)";
const newBytes =
  "?3 + iif(EXISTS (SELECT hash FROM disclosures WHERE hash = ?4), 0, ?5) + iif(EXISTS (SELECT id FROM entity_lists WHERE hash = 'e'), 0, 37)";
const policyPage = "p.business_id = ?1 AND p.origin = 'https://www.example.com' AND p.page = 'https://www.example.com/quote'";
const sharedCapture = `SELECT id FROM policy_captures WHERE origin = 'https://www.example.com' AND captured_at > ?2
  AND (page IS NULL OR page = 'https://www.example.com/quote')`;

const listedColumns = `c.id, c.status, c.fingerprint, c.issued_at, p.purpose, g.origin_domain, e.entities, c.subject_masked,
  c.subject_erased_at, c.view_count, c.environment`;
const publishedColumns = `${listedColumns}, c.business_id, f.business_name, d.text, f.disclosure_hash, c.subject_hash, c.gpc, f.captured_via,
  c.signature, f.signature_kid, c.policy_capture_id, c.change_ord`;
const fromCertificates = `FROM certificates c JOIN purposes p ON p.id = c.purpose_id JOIN certificate_forms f ON f.id = c.form_id
  JOIN disclosures d ON d.hash = f.disclosure_hash
  JOIN certificate_groups g ON g.id = c.group_id JOIN entity_lists e ON e.id = g.entity_list_id`;

const selectKey = (db: D1Database, keyHash: string) =>
  db.prepare("SELECT k.*, b.* FROM api_keys k JOIN businesses b ON b.id = k.business_id WHERE k.key_hash = ?").bind(keyHash);

/** The database work of each GET route, by the first segment of the route's path. Each function returns what it read, or null. */
const reads: Readonly<Record<string, (env: FloorEnv, first: string, second: string) => Promise<unknown>>> = {
  read: ({ DB }, id) => DB.prepare("SELECT * FROM certificates WHERE id = ?").bind(id).first(),
  page: async ({ DB }, id) =>
    (
      await DB.batch([
        DB.prepare("INSERT INTO certificate_views (cert_id, at, viewer_sealed, bot) VALUES (?, ?, ?, 0)").bind(id, Date.now(), random(260)),
        DB.prepare("UPDATE certificates SET view_count = view_count + 1, view_rows = view_rows + changes() WHERE id = ?").bind(id),
        DB.prepare(`SELECT ${publishedColumns} ${fromCertificates} WHERE c.id = ?`).bind(id),
      ])
    ).at(-1)?.results,
  list: async ({ DB, BUSINESS_ID: businessId }, keyHash) => {
    const key = await selectKey(DB, keyHash).first();
    const [page, total] = await DB.batch([
      DB.prepare(
        `SELECT ${listedColumns} ${fromCertificates} WHERE c.business_id = ? AND c.environment = 'live' ORDER BY c.issued_at DESC, c.ord DESC LIMIT 25`,
      ).bind(businessId),
      DB.prepare("SELECT active + revoked AS total FROM certificate_totals WHERE business_id = ? AND environment = 'live'").bind(
        businessId,
      ),
    ]);
    return key && [page?.results, total?.results];
  },
  detail: async ({ DB }, keyHash, id) => {
    const key = await selectKey(DB, keyHash).first();
    const columns = `${publishedColumns}, c.evidence_hash, c.person_sealed`;
    const row = await DB.prepare(`SELECT ${columns} ${fromCertificates} WHERE c.id = ?`).bind(id).first();
    const [views] = await DB.batch([
      DB.prepare("SELECT at, viewer_sealed, bot FROM certificate_views WHERE cert_id = ? ORDER BY ord DESC LIMIT 100").bind(id),
      DB.prepare(
        `INSERT INTO changes (id, type, entity_type, entity_id, at, chain, audit_log, payload_hash, payload)
         VALUES (?, 'certificate.subject_read', 'certificate', ?, ?, ?, '00', ?, ?)`,
      ).bind(random(36), id, Date.now(), random(32), random(64), random(120)),
    ]);
    return key && row && { ...row, views: views?.results };
  },
};

export default {
  async fetch(request: Request, env: FloorEnv): Promise<Response> {
    if (request.method === "GET") {
      const [, route = "", first = "", second = ""] = new URL(request.url).pathname.split("/");
      const found = await reads[route]?.(env, first, second);
      return found == null ? new Response(null, { status: 404 }) : Response.json(found);
    }
    const { client_id: clientId } = await request.json<{ client_id: string }>();
    const businessId = env.BUSINESS_ID;
    const id = `cc_00${random(24)}`;
    const now = Date.now();
    const entry = {
      id: random(36),
      shard: "00",
      chain: random(32),
      type: "certificate.issued",
      entityType: "certificate",
      entityId: id,
      at: now,
      payloadHash: random(64),
      ledgerId: "tlog:floor",
      statement: random(253),
    };
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO client_daily_usage (client_id, day, submissions, bytes)
         SELECT ?1, ?2, iif(${daySubmissions} >= 1 AND ${newBytes} <= ${dayBytes}, 1, NULL), ${newBytes} WHERE true
         ON CONFLICT (client_id, day) DO UPDATE SET
           submissions = iif(client_daily_usage.submissions < ${daySubmissions} AND client_daily_usage.bytes + excluded.bytes <= ${dayBytes}, client_daily_usage.submissions + 1, NULL),
           bytes = client_daily_usage.bytes + excluded.bytes
         RETURNING warned_at IS NULL AND (submissions * 5 >= ${daySubmissions} * 4 OR bytes * 5 >= ${dayBytes} * 4) AS is_near`,
      ).bind(clientId, Math.floor(now / 86_400_000), sealedPerson.length / 2, "d".repeat(64), disclosure.length),
      env.DB.prepare(
        `INSERT INTO purposes (business_id, environment, purpose, purpose_folded) VALUES (?, 'live', 'solar', 'solar')
         ON CONFLICT DO NOTHING`,
      ).bind(businessId),
      env.DB.prepare("INSERT INTO disclosures (hash, text) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING").bind("d".repeat(64), disclosure),
      env.DB.prepare("INSERT INTO entity_lists (hash, entities) VALUES ('e', ?) ON CONFLICT (hash) DO NOTHING").bind(
        '["Acme Solar LLC","Bright Homes Inc"]',
      ),
      env.DB.prepare(
        `INSERT INTO certificate_groups (purpose_id, entity_list_id, origin_domain, business_id, environment)
         SELECT p.id, l.id, 'www.example.com', p.business_id, p.environment FROM purposes p JOIN entity_lists l ON l.hash = 'e'
         WHERE p.business_id = ? AND p.environment = 'live' AND p.purpose = 'solar' ON CONFLICT DO NOTHING`,
      ).bind(businessId),
      env.DB.prepare(
        `INSERT INTO certificate_forms (disclosure_hash, client_id, business_name, captured_via, signature_kid)
         VALUES (?, ?, 'Acme Solar LLC', 'browser', ?) ON CONFLICT DO NOTHING`,
      ).bind("d".repeat(64), clientId, "k".repeat(43)),
      env.DB.prepare(
        `INSERT INTO certificates (business_id, id, environment, form_id, purpose_id, group_id, issued_at, fingerprint, subject_hash, subject_masked,
           person_sealed, email_indexes, phone_indexes, evidence_hash, signature, policy_capture_id, retention_until, change_ord, audit_salt)
         VALUES ((SELECT id FROM businesses WHERE id = ?1 AND revision >= 0), ?2, 'live',
           (SELECT id FROM certificate_forms WHERE disclosure_hash = ?4 AND client_id = ?3 AND business_name = 'Acme Solar LLC' AND captured_via = 'browser' AND signature_kid = ?13),
           (SELECT id FROM purposes WHERE business_id = ?1 AND environment = 'live' AND purpose = 'solar'),
           (SELECT g.id FROM certificate_groups g WHERE g.purpose_id = (SELECT id FROM purposes WHERE business_id = ?1 AND environment = 'live' AND purpose = 'solar')
             AND g.entity_list_id = (SELECT id FROM entity_lists WHERE hash = 'e') AND g.origin_domain = 'www.example.com'), ?5, unhex(?6), unhex(?7), '{"email":"p***@e***.com","first_name":"P***"}', unhex(?8), ?9, ?10, unhex(?11),
           unhex(?12),
           (SELECT ord FROM policy_captures WHERE origin = 'https://www.example.com' AND captured_at > ?15 AND (page IS NULL OR page = 'https://www.example.com/quote')
             ORDER BY captured_at DESC LIMIT 1), ?14, (SELECT coalesce(max(ord), 0) + 1 FROM changes), unhex(?16))`,
      ).bind(
        businessId,
        id,
        clientId,
        "d".repeat(64),
        now,
        random(64),
        random(64),
        sealedPerson,
        JSON.stringify([random(32)]),
        JSON.stringify([random(32)]),
        random(64),
        random(128),
        "k".repeat(43),
        now,
        now - 900_000,
        random(32),
      ),
      env.DB.prepare(
        `INSERT INTO policy_pages (business_id, origin, page, next_at, created_at)
         SELECT ?1, 'https://www.example.com', 'https://www.example.com/quote', ?3, ?3
         WHERE NOT EXISTS (${sharedCapture}) AND NOT EXISTS (SELECT 1 FROM policy_pages p WHERE ${policyPage})
         ON CONFLICT DO NOTHING RETURNING ord`,
      ).bind(businessId, now - 900_000, now),
      env.DB.prepare(
        `INSERT INTO changes (id, type, entity_type, entity_id, at, ledger_id, statement, chain, audit_log, payload_hash)
         SELECT value ->> 'id', value ->> 'type', value ->> 'entityType', value ->> 'entityId', value ->> 'at', value ->> 'ledgerId', value ->> 'statement',
           value ->> 'chain', value ->> 'shard', value ->> 'payloadHash'
         FROM json_each(?)`,
      ).bind(JSON.stringify([entry])),
    ]);
    return Response.json({ id }, { status: 201 });
  },
};
