// Fills the first shard with the records that strangers and dishonest customers can create: thousands of records for one address, one
// business, one person and one queue. Most are copies of records that the API created, so their columns have values that the service wrote.
import { env } from "cloudflare:workers";
import type { BusinessId, ShareId } from "../../core/ids.ts";
import { openVaultFromVars } from "../../scripts/demo-world.ts";
import { dayMs, hourMs, minuteMs } from "../../core/time.ts";
import { toStoredIndex } from "../../core/access/address-index.ts";
import { normalizeEmailAddress } from "../../core/email-address.ts";
import { countNewCertificates } from "../../storage/certificate-counters.ts";
import { serializeContactFields } from "../../storage/contact-fields.ts";
import { memberEmailContext } from "../../storage/people-contexts.ts";
import { openDatabase } from "../../storage/database.ts";
import { shareCopyContext } from "../../storage/share-values.ts";
import { world } from "./world.ts";

/** The number of records for one address, one business or one queue. It is far above the 2,000 rows that most statements may read. */
const many = 8_000;
/** A lower number, for records that take longer to seed because triggers write additional rows for them. */
export const several = 2_500;
/** A person can have 1,000 active shares, so the test seeds fewer. */
const maxPersonShares = 980;
/** A business can have 10,000 active test shares, so the test seeds fewer. */
const maxTestShares = 9_000;

type Cells = Readonly<Record<string, string>>;

/** Lists a table's columns, except `ord` if SQLite assigns its values. */
const listColumns = async (table: string): Promise<readonly string[]> => {
  const numbered = `name = 'ord' AND pk = 1 AND (SELECT COUNT(*) FROM pragma_table_info('${table}') WHERE pk > 0) = 1`;
  const { results } = await env.DB.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE NOT (${numbered})`).all<{
    name: string;
  }>();
  return results.map(({ name }) => name);
};

/**
 * Copies the row that matches `where` this many times. `cells` are SQL expressions, in which `n.i` is the number of the copy and `s` is the
 * copied row.
 */
const copyRows = async (table: string, where: string, count: number, cells: Cells): Promise<void> => {
  const columns = [...new Set([...(await listColumns(table)), ...Object.keys(cells)])];
  const values = columns.map((name) => cells[name] ?? `s.${name}`);
  const { meta } = await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM n, (SELECT * FROM ${table} WHERE ${where} LIMIT 1) s`,
  ).run();
  if (meta.changes === 0) throw new Error(`no row of ${table} to copy where ${where}`);
};

/** Inserts rows built from SQL expressions. Omitted columns are NULL or their default. */
const insertRows = async (table: string, count: number, cells: Cells): Promise<void> => {
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO ${table} (${Object.keys(cells).join(", ")}) SELECT ${Object.values(cells).join(", ")} FROM n`,
  ).run();
};

const run = (sql: string): Promise<D1Result> => env.DB.prepare(sql).run();
/** The time when queued work is due. It is later than the end of the tests, so no work runs before `makeWorkDue` changes it. */
const notYet = Date.now() + 100 * dayMs;
const waiting = `${notYet} + n.i`;
const quoteText = (value: string): string => `'${value}'`;
/** Builds the SQL expression for an ID with this prefix. The ID is different for each tag and each copy. */
const copyId = (prefix: string, tag: string): string => `'${prefix}00${tag}' || printf('%0${24 - tag.length}d', n.i)`;

/** The records that were created through the API and are copied. */
export interface OriginalRecords {
  readonly certId: string;
  readonly withdrawnCertId: string;
  /** A certificate with many recipients. Consent for one of them has been withdrawn. */
  readonly listCertId: string;
  readonly activeShareId: string;
  readonly revokedShareId: string;
  readonly sandboxShareId: string;
  readonly consumerId: string;
  readonly removalId: string;
}

/** Adds many certificates with the same address, so that most of the business's certificates contain it. */
const seedCertificates = async ({ certId, withdrawnCertId, listCertId }: OriginalRecords): Promise<void> => {
  const original = `id = '${certId}'`;
  await copyRows("certificates", original, many, { id: copyId("cc_", "a"), issued_at: `s.issued_at - n.i * ${minuteMs}` });
  // Adds purposes, each with its own recipients and disclosure.
  await insertRows("purposes", several, {
    business_id: quoteText(world.acme.id),
    environment: "'live'",
    purpose: "'solar quote number ' || n.i",
    purpose_folded: "'solar quote number ' || n.i",
  });
  await insertRows("entity_lists", several, {
    hash: "printf('%064d', n.i)",
    entities: "json_array('Acme Solar LLC', 'Partner ' || n.i, 'Other ' || n.i)",
  });
  await insertRows("disclosures", several, { hash: "printf('%064d', n.i)", text: "'I agree, text number ' || n.i" });
  await run(`INSERT INTO certificate_forms (disclosure_hash, client_id, business_name, captured_via, signature_kid)
    SELECT d.hash, f.client_id, f.business_name, f.captured_via, f.signature_kid FROM disclosures d,
      certificate_forms f JOIN certificates s ON s.form_id = f.id WHERE s.id = '${certId}' AND d.text LIKE 'I agree, text number %'`);
  // Sets `counted` for slightly fewer groups than the service allows. Certificates in the other groups are found without counters.
  await run(`INSERT INTO certificate_groups (purpose_id, entity_list_id, origin_domain, business_id, environment, counted)
    SELECT p.id, l.id, 'www.example.com', p.business_id, p.environment, CAST(substr(p.purpose, 20) AS INTEGER) <= 490 FROM purposes p JOIN entity_lists l ON l.hash = printf('%064d', substr(p.purpose, 20))
    WHERE p.purpose LIKE 'solar quote number %'`);
  const columns = (await listColumns("certificates")).filter((name) => name !== "ord");
  const ownCells: Cells = {
    id: "'cc_00b' || printf('%023d', g.id)",
    purpose_id: "g.purpose_id",
    group_id: "g.id",
    counted: "g.counted",
    form_id: "f.id",
    issued_at: `s.issued_at - g.id * ${hourMs} / 6`,
  };
  await run(`INSERT INTO certificates (${columns.join(", ")}) SELECT ${columns.map((name) => ownCells[name] ?? `s.${name}`).join(", ")}
    FROM certificate_groups g JOIN purposes p ON p.id = g.purpose_id
    JOIN certificate_forms f ON f.disclosure_hash = printf('%064d', substr(p.purpose, 20)), certificates s
    WHERE s.id = '${certId}' AND p.purpose LIKE 'solar quote number %'`);
  // Adds many certificates that name a list of a thousand recipients.
  await copyRows("certificates", `id = '${listCertId}'`, several, { id: copyId("cc_", "c"), issued_at: `s.issued_at - n.i * ${minuteMs}` });
  await run(`INSERT OR IGNORE INTO certificate_addresses (cert_ord, address_index, business_id, environment, issued_at)
    SELECT c.ord, a.address_index, c.business_id, c.environment, c.issued_at
    FROM certificates c, certificate_addresses a
    WHERE a.cert_ord = (SELECT ord FROM certificates WHERE ${original}) AND c.email_indexes = (SELECT email_indexes FROM certificates WHERE ${original})`);
  await copyRows("certificate_views", `cert_id = '${certId}'`, 10_000, { at: "s.at - n.i" });
  await run(`UPDATE certificates SET view_rows = 10001, view_count = 10001 WHERE ${original}`);
  await insertRows("match_misses", several, {
    cert_id: quoteText(certId),
    caller_id: copyId("biz_", "m"),
    day: "20000 + n.i % 500",
    misses: "1",
  });

  // Adds an unacknowledged withdrawal for each of thousands of certificates.
  await run(`INSERT INTO withdrawals (${(await listColumns("withdrawals")).join(", ")})
    SELECT ${(await listColumns("withdrawals")).map((name) => (name === "cert_id" ? "c.id" : `s.${name}`)).join(", ")}
    FROM certificates c, withdrawals s WHERE s.cert_id = '${withdrawnCertId}' AND c.id > 'cc_00a' || printf('%023d', 0) AND c.id < 'cc_00a' || printf('%023d', ${several})`);
  await insertRows("withdrawal_work", several - 1, {
    cert_id: copyId("cc_", "a"),
    business_id: quoteText(world.acme.id),
    environment: "'live'",
    address_indexes: `json_array((SELECT email_indexes ->> 0 FROM certificates WHERE ${original}))`,
    withdrawn_at: "1000",
    method: "'email_code'",
    next_at: waiting,
  });
  // Adds hundreds of partial withdrawals to one certificate.
  await run(`INSERT INTO entity_withdrawals (${(await listColumns("entity_withdrawals")).join(", ")})
    SELECT ${(await listColumns("entity_withdrawals")).map((name) => (name === "number" ? "n.value" : `s.${name}`)).join(", ")}
    FROM (SELECT value FROM json_each('${JSON.stringify(Array.from({ length: 500 }, (_, at) => at + 2))}')) n, entity_withdrawals s
    WHERE s.cert_id = '${listCertId}' AND s.number = 1`);
  await run(`INSERT OR IGNORE INTO withdrawn_entities (cert_id, entity, number)
    SELECT '${listCertId}', 'Partner ' || number, number FROM entity_withdrawals WHERE cert_id = '${listCertId}' AND number > 1`);
};

/** Encrypts the shared values of each copy separately, because they are bound to the IDs of the share and the business. */
const copySharedValues = async (shareId: string): Promise<void> => {
  const vault = await openVaultFromVars(env);
  const keySealed = await env.DB.prepare("SELECT key_sealed FROM shares WHERE id = ?").bind(shareId).first<string>("key_sealed");
  const sealer = await vault.withRecordKey(keySealed as string);
  const values = serializeContactFields({ email: { value: world.consumerEmail, updatedAt: 0 } });
  const rows = await Promise.all(
    Array.from({ length: maxPersonShares }, async (_, at) => {
      const number = String(at + 1).padStart(23, "0");
      return [
        `shr_00a${number}`,
        await sealer.seal(shareCopyContext(`shr_00a${number}` as ShareId, `biz_00b${number}` as BusinessId), values),
      ];
    }),
  );
  await env.DB.prepare("INSERT INTO share_values (share_id, values_sealed, revision) SELECT value ->> 0, value ->> 1, 0 FROM json_each(?)")
    .bind(JSON.stringify(rows))
    .run();
};

/** Adds thousands of shares of one person, and thousands that one business received. */
const seedShares = async ({ activeShareId, revokedShareId, sandboxShareId, consumerId }: OriginalRecords): Promise<void> => {
  const due = { next_due_at: "n.i" };
  const unique = { fingerprint: "lower(hex(randomblob(32)))" };
  await copyRows("shares", `id = '${activeShareId}'`, maxPersonShares, {
    id: copyId("shr_", "a"),
    business_id: copyId("biz_", "b"),
    subject_sealed: "NULL",
    ...unique,
    ...due,
  });
  await copyRows("shares", `id = '${revokedShareId}'`, many, { id: copyId("shr_", "r"), subject_sealed: "NULL", ...unique });
  await copyRows("shares", `id = '${sandboxShareId}'`, maxTestShares, { id: copyId("shr_", "s"), ...unique, ...due });
  // Adds shares of other people that have the same address as this person.
  await copyRows("shares", `id = '${activeShareId}'`, several, { id: copyId("shr_", "n"), consumer_id: copyId("con_", "n"), ...unique });
  await copySharedValues(activeShareId);
  await copyRows("share_codes", `share_id = '${activeShareId}'`, several, {
    share_id: copyId("shr_", "n"),
    code_hash: copyId("ch", "c"),
    request_hash: copyId("rh", "c"),
    created_at: "n.i",
  });
  await insertRows("share_notices", several, { share_id: copyId("shr_", "n"), kind: "'expiring'", next_at: waiting });
  await insertRows("share_intents", several, { share_id: copyId("shr_", "i"), consumer_id: quoteText(consumerId), next_at: waiting });
  await insertRows("record_usage", several, {
    owner_id: copyId("con_", "u"),
    owner_kind: "'person'",
    day: "n.i",
    records: "1",
    bytes: "1",
  });
  await insertRows("field_fanouts", several, {
    consumer_id: copyId("con_", "n"),
    shard: "'00'",
    changed: `'["email"]'`,
    revision: "1",
    next_at: waiting,
  });
};

/** Adds 90 members, so that the business is just below its limit of 100 members and invitations. */
const copyMembers = async (): Promise<void> => {
  const vault = await openVaultFromVars(env);
  const rows = await Promise.all(
    Array.from({ length: 90 }, async (_, at) => {
      const id = `mem_00a${String(at).padStart(23, "0")}`;
      return [id, await vault.seal(memberEmailContext(id, world.acme.id), `member${at}@acme-solar.example`)];
    }),
  );
  await env.DB.prepare(
    `INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at)
     SELECT value ->> 0, ?2, value ->> 1, value ->> 0, 'member', 0 FROM json_each(?1)`,
  )
    .bind(JSON.stringify(rows), world.acme.id)
    .run();
};

const seedAccounts = async ({ consumerId }: OriginalRecords): Promise<void> => {
  const acme = `id = '${world.acme.id}'`;
  await copyRows("businesses", acme, several, { id: copyId("biz_", "b"), audit_chain: copyId("ch", "b") });
  await copyRows("consumers", `id = '${consumerId}'`, several, {
    id: copyId("con_", "n"),
    email_index: copyId("ix", "n"),
    audit_chain: copyId("ch", "n"),
  });
  const member = `business_id = '${world.acme.id}' AND role = 'owner'`;
  // Adds one person who belongs to thousands of businesses and has thousands of invitations.
  const vault = await openVaultFromVars(env);
  const crowd = toStoredIndex(await vault.blindIndex("email", normalizeEmailAddress(crowdEmail) as string));
  await copyRows("members", member, several, { id: copyId("mem_", "b"), business_id: copyId("biz_", "b"), email_index: quoteText(crowd) });
  await copyMembers();
  for (const email of [crowd, `(SELECT email_index FROM members WHERE ${member} LIMIT 1)`])
    await insertRows("invitations", several, {
      id: copyId("mem_", email === crowd ? "i" : "j"),
      business_id: copyId("biz_", "b"),
      email_index: email === crowd ? quoteText(crowd) : email,
      email_sealed: "'sealed'",
      role: "'member'",
      created_at: "n.i",
      expires_at: "n.i",
    });
  await insertRows("domains", several, {
    id: copyId("dom_", "b"),
    business_id: copyId("biz_", "b"),
    domain: "'shop' || n.i || '.example'",
    status: "'verified'",
    method: "'dns'",
    created_at: "n.i",
    token: "'token'",
    next_check_at: "n.i",
  });
  await insertRows("domains", several, {
    id: copyId("dom_", "p"),
    business_id: copyId("biz_", "b"),
    domain: "'pending' || n.i || '.example'",
    status: "'pending'",
    created_at: "n.i",
    token: "'token'",
    expires_at: "n.i",
  });
  await copyRows("api_keys", `business_id = '${world.acme.id}'`, several, {
    id: copyId("key_", "r"),
    key_hash: copyId("kh", "r"),
    revoked_at: "n.i",
  });
  await insertRows("clients", several, {
    id: copyId("pc_live_", "b"),
    business_id: copyId("biz_", "b"),
    environment: "'live'",
    name: "'Website'",
    created_at: "n.i",
  });
  await insertRows("client_daily_usage", several, {
    client_id: quoteText(world.acme.clients.live),
    day: "n.i",
    submissions: "1",
    bytes: "1",
  });
  await insertRows("linked_recipients", 1_000, {
    business_id: quoteText(world.acme.id),
    recipient_id: copyId("biz_", "b"),
    entity: "'Partner ' || n.i",
    created_at: "n.i",
  });
  await run(`INSERT OR IGNORE INTO daily_activity (business_id, environment, day, issued)
    SELECT '${world.acme.id}', 'live', ${Math.floor(Date.now() / dayMs) * dayMs} - value * ${dayMs}, 1
    FROM json_each('${JSON.stringify(Array.from({ length: 3_650 }, (_, at) => at))}')`);
  const principals = [consumerId, `(SELECT id FROM members WHERE ${member} LIMIT 1)`];
  for (const [at, user] of principals.entries()) {
    const realm = at === 0 ? "'consumer'" : "'business'";
    const principal = at === 0 ? quoteText(user) : user;
    await insertRows("sessions", 95, {
      token_hash: copyId("th", `s${at}`),
      realm,
      user_id: principal,
      created_at: "n.i",
      expires_at: `${Date.now() + dayMs}`,
      id: copyId("ssn_", `s${at}`),
    });
    await insertRows("agent_tokens", several, {
      id: copyId("tok_", `t${at}`),
      token_hash: copyId("th", `t${at}`),
      realm,
      principal_id: principal,
      ...(at === 1 && { business_id: quoteText(world.acme.id) }),
      created_at: "n.i",
      expires_at: `${Date.now() + dayMs}`,
      revoked_at: "n.i",
    });
  }
  await insertRows("agent_tokens", several, {
    id: copyId("tok_", "e"),
    token_hash: copyId("th", "e"),
    realm: "'consumer'",
    principal_id: copyId("con_", "n"),
    created_at: "n.i",
    expires_at: `${Date.now() + dayMs}`,
    source: "'oauth'",
  });
  await insertRows("sessions", several, {
    token_hash: copyId("th", "x"),
    realm: "'consumer'",
    user_id: copyId("con_", "n"),
    created_at: "n.i",
    expires_at: "n.i",
    id: copyId("ssn_", "x"),
  });
};

/** Adds codes and sign-ups for one address, and challenges, OAuth records, idempotency records and billing records. */
const seedSignIns = async (records: OriginalRecords): Promise<void> => {
  const address = `(SELECT email_index FROM consumers WHERE id = '${records.consumerId}')`;
  for (const [purpose, topic] of [
    ["login", "consumer"],
    ["withdrawal", `${world.acme.id}:live`],
  ])
    await insertRows("email_codes", several, {
      id: copyId("ec", purpose === "login" ? "l" : "w"),
      purpose: quoteText(purpose as string),
      topic: quoteText(topic as string),
      address_index: address,
      cert_id: purpose === "login" ? "NULL" : quoteText(records.certId),
      code_hash: "'hash'",
      created_at: `${Date.now()} - n.i * 1000`,
      expires_at: `${Date.now()} - n.i * 1000`,
    });
  await insertRows("email_code_failures", several, {
    purpose: "'login'",
    topic: "'consumer'",
    address_index: copyId("ix", "f"),
    cert_id: quoteText(records.certId),
    failures: "1",
    updated_at: "n.i",
  });
  await insertRows("signups", several, {
    id: copyId("su", "s"),
    email_index: address,
    email_sealed: "'sealed'",
    request_sealed: "'sealed'",
    created_at: "n.i",
    expires_at: "n.i",
  });
  await insertRows("webauthn_challenges", several, { challenge_hash: copyId("wh", "w"), purpose: "'sign_in'", expires_at: "n.i" });
  await insertRows("oauth_codes", several, {
    code_hash: copyId("oc", "o"),
    nonce_hash: copyId("on", "o"),
    realm: "'consumer'",
    principal_id: quoteText(records.consumerId),
    client_id: "'https://agent.example/client'",
    redirect_uri: "'http://localhost/callback'",
    challenge: "'challenge'",
    replaces: "0",
    language: "'en'",
    created_at: "n.i",
    expires_at: "n.i",
  });
  await insertRows("oauth_clients", several, { url: "'https://agent' || n.i || '.example/client'", document: "'{}'", fetched_at: "n.i" });
  await insertRows("idempotent_responses", many, {
    key_hash: copyId("ih", "i"),
    body_hash: "'hash'",
    status: "201",
    response_sealed: "'sealed'",
    expires_at: "n.i",
    cert_id: quoteText(records.certId),
  });
  await insertRows("idempotency_claims", several, {
    key_hash: copyId("ih", "c"),
    body_hash: "'hash'",
    holder: "'holder'",
    leased_until: "n.i",
    expires_at: "n.i",
  });
  await insertRows("billing_customers", several, { customer_id: copyId("cus", "u"), updated_at: "n.i" });
  await insertRows("billing_customers", several, {
    customer_id: copyId("cus", "p"),
    account_id: copyId("biz_", "b"),
    linked_at: "n.i",
    past_due_since: "n.i",
    updated_at: "n.i",
  });
  await insertRows("billing_events", several, { id: copyId("evt", "b"), customer_id: "'cus'", type: "'t'", at: "n.i", received_at: "n.i" });
};

/** Adds pending work, and long histories of single records. */
const seedQueues = async ({ certId, withdrawnCertId, activeShareId, consumerId, removalId }: OriginalRecords): Promise<void> => {
  // Adds audit entries for actions that anyone can repeat: exports of a certificate, reads of a share, and calls by an assistant. Their
  // numbers are below those of all changes, so the audit log treats them as processed.
  for (const [range, [entity, entityType, type, chain]] of (
    [
      [certId, "certificate", "evidence_pack.exported", quoteText(world.acme.chain)],
      [activeShareId, "share", "consumer.current_read", quoteText(world.acme.chain)],
      [consumerId, "agent_token", "agent.called", `(SELECT audit_chain FROM consumers WHERE id = '${consumerId}')`],
    ] as const
  ).entries())
    await copyRows("audit_entries", `chain = '${world.acme.chain}'`, several, {
      ord: `${-range * several} - n.i`,
      id: "lower(hex(randomblob(16)))",
      entity_id: quoteText(entity),
      entity_type: quoteText(entityType),
      type: quoteText(type),
      chain,
    });
  await copyRows("anchors", `entity_id = '${withdrawnCertId}'`, several, {
    // The numbers are negative, so that they do not affect the number of the next change.
    ord: "-n.i",
    status: "'parked'",
    entity_id: copyId("cc_", "a"),
  });
  const event = {
    ord: "-n.i",
    id: copyId("ev", "e"),
    type: "'certificate.revoked'",
    entity_type: "'certificate'",
    entity_id: copyId("cc_", "a"),
    at: "n.i",
    sequence: quoteText(world.acme.id),
  };
  await insertRows("changes", several, event);
  await insertRows("changes", several, { ...event, ord: `${-several} - n.i`, sequence: copyId("biz_", "b") });
  await insertRows("mail_outbox", many, {
    id: copyId("ml", "m"),
    template: "'code'",
    message_sealed: "'sealed'",
    next_at: waiting,
    give_up_at: `${Date.now() + dayMs}`,
    created_at: "n.i",
    cert_id: quoteText(certId),
    consumer_id: quoteText(consumerId),
  });
  await insertRows("failed_mail", several, {
    id: copyId("ml", "f"),
    template: "'code'",
    message_sealed: "'sealed'",
    reason: "'refused'",
    failed_at: "n.i",
    expires_at: "n.i",
    created_at: "n.i",
    cert_id: quoteText(certId),
    consumer_id: quoteText(consumerId),
    entity_id: quoteText(certId),
  });
  await insertRows("audit_batches", several, { audit_log: "0", ord: `${-several} - n.i`, recorded_at: "n.i" });
  for (const kind of ["subscription_end", "failing_endpoint"])
    await insertRows("outbox", several, {
      kind: quoteText(kind),
      entity_id: copyId("e_", "o"),
      topic: "''",
      payload: "'{}'",
      next_at: waiting,
      created_at: "n.i",
    });
  // Assigns thousands of certificates to one page of one business, and adds a page for each of thousands of other businesses.
  const ownPage = { origin: "'https://www.example.com'", page: "'https://www.example.com/quote'", created_at: "n.i" };
  await insertRows("policy_pages", 1, { ...ownPage, business_id: quoteText(world.acme.id), next_at: "1" });
  await run(`UPDATE certificates SET policy_page_id = (SELECT ord FROM policy_pages WHERE business_id = '${world.acme.id}')
    WHERE business_id = '${world.acme.id}' AND policy_capture_id IS NULL`);
  const shopPage = { origin: "'https://shop' || n.i || '.example'", page: "'https://shop.example/'", created_at: "n.i" };
  await insertRows("policy_pages", several, { ...shopPage, business_id: copyId("biz_", "b"), next_at: waiting });
  await insertRows("policy_captures", many, {
    id: copyId("cap", "p"),
    domain: "'example.com'",
    captured_at: "n.i",
    origin: "'https://www.example.com'",
  });
  await insertRows("account_withdrawals", several, {
    address_index: copyId("ix", "w"),
    business_id: "''",
    withdrawn_at: "1000",
    next_at: waiting,
  });
  await insertRows("account_erasures", 500, { consumer_id: copyId("con_", "n"), language: "'en'", next_at: waiting });
  await copyRows("removals", `id = '${removalId}'`, several, { id: copyId("rmv_", "r") });
  await insertRows("removal_targets", several, { removal_id: copyId("rmv_", "r"), name: "'spokeo'" });
  await insertRows("checkpoints", several, { origin: "'o'", window: "n.i", size: "'1'", root: "'r'", note: "'n'", created_at: "n.i" });
  await insertRows("attestations", several, { origin: "'o'", window: "n.i", kind: "'rfc3161'", attestor: "'a'", next_at: waiting });
};

/** The email address of a person with thousands of memberships and invitations. */
export const crowdEmail = "crowd@example.com";

/** Seeds all hostile data. The original records must already exist. */
export const seedHostileDatabase = async (records: OriginalRecords): Promise<void> => {
  await run("PRAGMA foreign_keys = OFF");
  await seedAccounts(records);
  await seedCertificates(records);
  await seedShares(records);
  await seedSignIns(records);
  await seedQueues(records);
  while (await countNewCertificates(openDatabase(env.DB), Date.now()));
};

/** Makes all queued work due. The seeded work is not due before this call, because requests would otherwise spend their time on it. */
export const makeWorkDue = async (): Promise<void> => {
  for (const table of [
    "withdrawal_work",
    "share_notices",
    "share_intents",
    "field_fanouts",
    "mail_outbox",
    "outbox",
    "policy_pages",
    "account_withdrawals",
    "account_erasures",
    "attestations",
  ])
    await run(`UPDATE ${table} SET next_at = next_at - ${notYet} WHERE next_at > ${notYet} AND next_at < ${notYet} * 2`);
};
