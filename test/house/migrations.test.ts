// A database that is in use survives every later migration: its rows are there afterwards, under the same numbers.
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { read } from "./repository.ts";
import { migrations } from "./stored.ts";

/** The last migration of the first release. */
const released = "0010_issuances.sql";

const seed = `
  INSERT INTO businesses (id, name, status, plan, audit_chain, created_at) VALUES ('biz_1', 'Acme', 'active', 'free', 'chain', 1);
  INSERT INTO clients (id, business_id, environment, name, created_at) VALUES ('pc_1', 'biz_1', 'live', 'Demo', 1);
  INSERT INTO purposes (id, business_id, environment, purpose, purpose_folded, active) VALUES (7, 'biz_1', 'live', 'Solar', 'solar', 1);
  INSERT INTO disclosures (hash, text) VALUES ('d', 'I agree.');
  INSERT INTO certificates (ord, id, business_id, business_name, client_id, environment, purpose_id, disclosure_hash, entities, origin_domain,
      issued_at, fingerprint, subject_hash, subject_masked, subject_sealed, evidence_sealed, evidence_hash, captured_via, signature,
      signature_kid, manage_token_hash, retention_until)
    VALUES (3, 'cc_1', 'biz_1', 'Acme', 'pc_1', 'live', 7, 'd', '[]', 'example.com', 1, 'f', 's', '{}', '1.x', '1.y', 'e', 'browser', 'sig',
      'kid', 'm', 9);
  INSERT INTO audit_outbox (ord, id, shard, chain, type, entity_type, entity_id, at, payload_hash, payload_sealed, drained_at)
    VALUES (5, 'one', 0, 'chain', 'certificate.issued', 'certificate', 'cc_1', 1, 'h', '1.z', 2),
      (9, 'two', 0, 'chain', 'policy.linked', 'certificate', 'cc_1', 3, 'h2', NULL, NULL);
  INSERT INTO anchors (ord, id, ledger_id, kind, entity_id, event, statement, entry_hash, status, attempts, next_at, lease, receipt, created_at)
    VALUES (4, 'a', 'tlog:x', 'event', 'cc_1', 'certificate.issued', 'text', 'eh', 'anchored', 2, 8, NULL, '{}', 1),
      (6, 'b', 'tlog:x', 'checkpoint', 'log', 'checkpoint', 'text2', 'eh2', 'prepared', 0, 8, 'me', NULL, 1);
  INSERT INTO outbox (ord, kind, entity_id, topic, payload, attempts, next_at, created_at)
    VALUES (11, 'policy', 'cc_1', 'example.com', 'https://example.com/', 1, 5, 1), (40, 'policy', 'cc_done', 'example.com', 'x', 0, 5, 1);
  DELETE FROM outbox WHERE ord = 40;
  UPDATE certificates SET email_index = 'pat' WHERE id = 'cc_1';
  INSERT INTO withdrawal_codes (id, cert_id, address_index, code_hash, context_hash, own_tries, created_at, expires_at)
    VALUES ('mailed', 'cc_1', 'pat', 'h', 'browser', 2, 5, 6), ('mailed to nobody', 'cc_1', 'eve', 'h', 'browser', 0, 5, 6);
  INSERT INTO withdrawal_failures (cert_id, address_index, failures, updated_at) VALUES ('cc_1', 'pat', 7, 6), ('cc_1', 'eve', 9, 6);
  INSERT INTO login_codes (id, realm, email_index, code_hash, tries, created_at, expires_at) VALUES ('sign-in', 'consumer', 'pat', 'h', 3, 5, 6);
`;

/** A name that no migration has would be the end of the list, and everything would be called earlier. */
const placeOf = (name: string): number => {
  const at = migrations().indexOf(name);
  if (at < 0) throw new Error(`no migration ${name}`);
  return at;
};

const contents = (database: DatabaseSync): Record<string, unknown> =>
  Object.fromEntries(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
      .all()
      .map(({ name }) => [name, database.prepare(`SELECT * FROM "${name}" ORDER BY rowid`).all()]),
  );

describe("a database of the first release", () => {
  const database = new DatabaseSync(":memory:");
  const all = migrations();
  const at = placeOf(released) + 1;
  for (const name of all.slice(0, at)) database.exec(read(`d1-migrations/${name}`));
  database.exec(seed);
  const before = contents(database);
  for (const name of all.slice(at)) database.exec(read(`d1-migrations/${name}`));

  test("keeps every row under its number", () => {
    expect(all.length).toBeGreaterThan(at);
    // A capture that waits names its origin and page since 0014, and is due anew.
    const waiting = {
      ...(before.outbox as object[])[0],
      topic: "https://example.com https://example.com/",
      next_at: 1,
      business_id: "biz_1",
    };
    const { withdrawal_codes: _, withdrawal_failures: __, login_codes: ___, ...kept } = before; // of ten minutes; the next test
    const now = contents(database);
    const listed = database
      .prepare(
        "SELECT c.*, l.entities FROM certificates c JOIN certificate_groups g ON g.id = c.group_id JOIN entity_lists l ON l.id = g.entity_list_id",
      )
      .all();
    expect({ ...now, certificates: listed }).toMatchObject({ ...kept, outbox: [waiting] });
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  });

  test("keeps the codes that are on their way, and what was tried", () => {
    const rows = (sql: string) => database.prepare(sql).all();
    expect(rows("SELECT id, purpose, topic, address_index, own_tries, context_hash FROM mailed_codes ORDER BY id")).toEqual([
      { id: "mailed", purpose: "withdrawal", topic: "biz_1 live", address_index: "pat", own_tries: 2, context_hash: "browser" },
      { id: "sign-in", purpose: "login", topic: "consumer", address_index: "pat", own_tries: 3, context_hash: null },
    ]);
    expect(rows("SELECT topic, address_index, failures FROM mailed_code_failures")).toEqual([
      { topic: "biz_1 live", address_index: "pat", failures: 7 },
    ]);
  });

  test("gives no number out twice", () => {
    const next = (sql: string): unknown => database.prepare(`${sql} RETURNING ord`).get()?.ord;
    expect(
      next("INSERT INTO outbox (kind, entity_id, topic, payload, next_at, created_at) VALUES ('policy', 'cc_2', 't', 'p', 1, 1)"),
    ).toBe(41);
    const entry =
      "INSERT INTO audit_outbox (id, shard, chain, type, entity_type, entity_id, at, payload_hash) VALUES ('one', 0, ?, 't', 'e', 'x', 1, 'h')";
    expect(next(entry.replace("?", "'another'"))).toBe(10);
    expect(() => next(entry.replace("?", "'chain'"))).toThrow("UNIQUE");
  });

  test("takes kinds of work that were not thought of", () => {
    database.exec("INSERT INTO outbox (kind, entity_id, topic, payload, next_at, created_at) VALUES ('fan_out', 'shr_1', 't', 'p', 1, 1)");
    database.exec(
      "INSERT INTO anchors (id, ledger_id, kind, entity_id, event, statement, entry_hash, next_at, created_at) VALUES ('c', 'l', 'root', 'x', 'e', 's', 'h', 1, 1)",
    );
  });
});

describe("a database with withdrawals from single recipients, and one under way", () => {
  const database = new DatabaseSync(":memory:");
  const all = migrations();
  const at = placeOf("0021_recorded_scopes.sql");
  for (const name of all.slice(0, at)) {
    database.exec(read(`d1-migrations/${name}`));
    if (name === released) database.exec(seed);
  }
  database.exec(`
    INSERT INTO entity_withdrawals (cert_id, number, withdrawn_at, cease_by, method, receipt, signature, signature_kid)
      VALUES ('cc_1', 1, 5, 9, 'manage_link', 'text', 's', 'k'), ('cc_1', 2, 6, 9, 'email_code', 'text2', 's2', 'k');
    INSERT INTO withdrawn_entities (cert_id, entity, number) VALUES ('cc_1', 'Acme', 1), ('cc_1', 'Bright', 1), ('cc_1', 'Zenith', 2);
    INSERT INTO withdrawals (cert_id, business_id, environment, withdrawn_at, cease_by, method, scope, receipt, signature, signature_kid)
      VALUES ('cc_1', 'biz_1', 'live', 7, 9, 'email_code', 'business', 'text3', 's3', 'k');
    INSERT INTO withdrawal_work (cert_id, business_id, environment, address_index, withdrawn_at, method, next_at)
      VALUES ('cc_1', 'biz_1', 'live', 'pat', 7, 'email_code', 8);
  `);
  const before = contents(database);
  for (const name of all.slice(at)) database.exec(read(`d1-migrations/${name}`));

  test("keeps them, with what points to them", () => {
    expect(contents(database)).toMatchObject(before);
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    expect(() => database.exec("INSERT INTO withdrawn_entities (cert_id, entity, number) VALUES ('cc_1', 'Nobody', 3)")).toThrow(
      "FOREIGN KEY",
    );
    expect(() => database.exec("UPDATE entity_withdrawals SET cease_by = 1")).toThrow("immutable");
  });

  test("reaches everything by default in what a business records", () => {
    expect(database.prepare("SELECT revocation_scope_default FROM businesses").all()).toEqual([{ revocation_scope_default: "business" }]);
    expect(() => database.exec("UPDATE businesses SET revocation_scope_default = 'recipient'")).toThrow("CHECK");
  });
});

describe("a database with withdrawals and acknowledgements of before they were counted by the day", () => {
  const database = new DatabaseSync(":memory:");
  const all = migrations();
  const at = placeOf("0030_overview_and_views.sql");
  for (const name of all.slice(0, at)) {
    database.exec(read(`d1-migrations/${name}`));
    if (name === released) database.exec(seed);
  }
  const day = 86_400_000;
  const withdraw = (receipt: string, withdrawnAt: number) => `
    INSERT INTO withdrawals (cert_id, business_id, environment, withdrawn_at, cease_by, method, scope, receipt, signature, signature_kid)
      VALUES ('cc_1', 'biz_1', 'live', ${withdrawnAt}, ${3 * day}, 'email_code', 'certificate', '${receipt}', 's', 'k');`;
  database.exec(`
    INSERT INTO entity_withdrawals (cert_id, number, withdrawn_at, cease_by, method, receipt, signature, signature_kid)
      VALUES ('cc_1', 1, 5, ${day}, 'manage_link', 'text', 's', 'k');
    INSERT INTO withdrawn_entities (cert_id, entity, number) VALUES ('cc_1', 'Acme', 1), ('cc_1', 'Bright', 1);
    INSERT INTO entity_acknowledgements (cert_id, number, acknowledged_at, details_sealed) VALUES ('cc_1', 1, ${day}, 'x'), ('cc_1', 2, ${day + 1}, 'x');
    INSERT INTO acknowledged_entities (cert_id, entity, number) VALUES ('cc_1', 'Acme', 1), ('cc_1', 'Bright', 2);
    ${withdraw("text2", 2 * day + 7)}
    INSERT INTO cease_acknowledgements (cert_id, acknowledged_at, details_sealed) VALUES ('cc_1', ${3 * day}, 'x');
  `);
  for (const name of all.slice(at)) database.exec(read(`d1-migrations/${name}`));

  test("has them counted on their days, by their deadlines", () => {
    const counted = "SELECT business_id, environment, day, withdrawn, on_time, late FROM activity_days WHERE day > 0 ORDER BY day";
    expect(database.prepare(counted).all()).toEqual([
      { business_id: "biz_1", environment: "live", day, withdrawn: 0, on_time: 1, late: 1 },
      { business_id: "biz_1", environment: "live", day: 2 * day, withdrawn: 1, on_time: 0, late: 0 },
      { business_id: "biz_1", environment: "live", day: 3 * day, withdrawn: 0, on_time: 1, late: 0 },
    ]);
  });
});

describe("a database with certificates, opened pages and shares of before they were counted by the day", () => {
  const database = new DatabaseSync(":memory:");
  const all = migrations();
  const at = placeOf("0032_activity.sql");
  for (const name of all.slice(0, at)) {
    database.exec(read(`d1-migrations/${name}`));
    if (name === released) database.exec(seed); // a certificate of the first day
  }
  const day = 86_400_000;
  const share = (id: string, environment: string, created: number, stopped: number | null) => `
    INSERT INTO shares (id, business_id, business_name, client_id, environment, state, scope, origin, purpose, disclosure_hash, duration_days,
        created_at, expires_at, revoked_at, cease_by, fields_revision, fingerprint, subject_hash, signature, signature_kid, changed_by)
      VALUES ('${id}', 'biz_1', 'Acme', 'pc_1', '${environment}', '${stopped === null ? "expired" : "revoked"}', 1, 'https://example.com', 'Solar',
        'd', 1, ${created}, ${9 * day}, ${stopped}, ${stopped === null ? null : 9 * day}, 1, 'f', 's', 'sig', 'kid', 'req');`;
  database.exec(`
    INSERT INTO certificate_views (cert_id, at, viewer_sealed, viewer_index, bot)
      VALUES ('cc_1', 5, 'x', 'a', 0), ('cc_1', 6, 'x', 'b', 1), ('cc_1', ${day + 5}, 'x', 'a', 0), ('cc_1', ${day + 9}, 'x', 'c', 0);
    INSERT INTO withdrawals (cert_id, business_id, environment, withdrawn_at, cease_by, method, scope, receipt, signature, signature_kid)
      VALUES ('cc_1', 'biz_1', 'live', ${day + 6}, ${3 * day}, 'email_code', 'certificate', 'text', 's', 'k');
    ${share("shr_1", "live", day + 1, 2 * day + 1)}
    ${share("shr_2", "live", day + 2, null)}
    ${share("shr_3", "sandbox", day + 2, null)}
  `);
  for (const name of all.slice(at)) database.exec(read(`d1-migrations/${name}`));

  test("has them counted on their days, beside what was counted already", () => {
    const none = { withdrawn: 0, on_time: 0, late: 0, issued: 0, opened: 0, granted: 0, stopped: 0 };
    const live = { business_id: "biz_1", environment: "live" };
    expect(database.prepare("SELECT * FROM activity_days ORDER BY environment, day").all()).toEqual([
      { ...live, ...none, day: 0, issued: 1, opened: 1 },
      { ...live, ...none, day, withdrawn: 1, opened: 2, granted: 2 },
      { ...live, ...none, day: 2 * day, stopped: 1 },
      { ...live, ...none, environment: "sandbox", day, granted: 1 },
    ]);
  });
});

describe("a database of when an address was a member of one business", () => {
  const database = new DatabaseSync(":memory:");
  const all = migrations();
  const at = placeOf("0033_seats.sql");
  for (const name of all.slice(0, at)) {
    database.exec(read(`d1-migrations/${name}`));
    if (name === released) database.exec(seed);
  }
  const join = "INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES";
  database.exec(`
    INSERT INTO businesses (id, name, status, plan, audit_chain, created_at) VALUES ('biz_2', 'Bright', 'active', 'free', 'chain2', 1);
    ${join} ('mem_1', 'biz_1', '1.x', 'pat', 'owner', 5), ('mem_2', 'biz_1', '1.y', 'sam', 'member', 6);
  `);
  const before = contents(database);
  for (const name of all.slice(at)) database.exec(read(`d1-migrations/${name}`));

  test("keeps its members, and takes the address in another business but not twice in one", () => {
    expect(contents(database)).toMatchObject(before);
    database.exec(`${join} ('mem_3', 'biz_2', '1.z', 'pat', 'member', 7)`);
    expect(() => database.exec(`${join} ('mem_4', 'biz_2', '1.z', 'pat', 'owner', 8)`)).toThrow("UNIQUE");
  });

  test("still keeps an owner in each business, and notes when a seat is used", () => {
    expect(() => database.exec("DELETE FROM members WHERE id = 'mem_1'")).toThrow("a business keeps an owner");
    expect(() => database.exec("UPDATE members SET role = 'member' WHERE id = 'mem_1'")).toThrow("a business keeps an owner");
    const begin = "INSERT INTO sessions (token_hash, realm, user_id, created_at, expires_at) VALUES";
    database.exec(`${begin} ('h', 'business', 'mem_2', 9, 99), ('i', 'consumer', 'mem_1', 9, 99)`);
    expect(database.prepare("SELECT id, used_at FROM members WHERE used_at IS NOT NULL").all()).toEqual([{ id: "mem_2", used_at: 9 }]);
  });
});
