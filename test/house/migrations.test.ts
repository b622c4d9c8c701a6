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
`;

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
  const at = all.indexOf(released) + 1;
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
    const now = contents(database);
    const listed = database
      .prepare(
        "SELECT c.*, l.entities FROM certificates c JOIN certificate_groups g ON g.id = c.group_id JOIN entity_lists l ON l.id = g.entity_list_id",
      )
      .all();
    expect({ ...now, certificates: listed }).toMatchObject({ ...before, outbox: [waiting] });
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
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
