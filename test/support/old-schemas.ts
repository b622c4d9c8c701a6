// The stores of objects as deployments before schema_version wrote them: the tables word for word, and rows. Never edited:
// somewhere an object has been asleep since then, and it must open.

/** SQL that makes the tables, and SQL that fills them. */
export interface OldStore {
  readonly tables: string;
  readonly rows: string;
}

const oldTransparencyLog: OldStore = {
  tables: `
    CREATE TABLE IF NOT EXISTS meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS leaf (idx INTEGER PRIMARY KEY, dedupe BLOB NOT NULL UNIQUE, entry BLOB NOT NULL, at INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS tile (level INTEGER NOT NULL, n INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, n)) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS checkpoint (size INTEGER PRIMARY KEY, root BLOB NOT NULL, note TEXT NOT NULL, signed_at INTEGER NOT NULL) STRICT;
  `,
  rows: `
    INSERT INTO meta (k, v) VALUES ('frozen', 'kept as evidence');
    INSERT INTO leaf (idx, dedupe, entry, at) VALUES (0, x'aa', x'01', 1900000000000), (1, x'bb', x'02', 1900000000001);
    INSERT INTO tile (level, n, data) VALUES (0, 0, x'0102');
    INSERT INTO checkpoint (size, root, note, signed_at) VALUES (2, x'cc', 'note', 1900000000002);
  `,
};

/** The audit log of a shard. */
export const oldAuditLog: OldStore = {
  tables: `${oldTransparencyLog.tables}
    CREATE TABLE IF NOT EXISTS chain (
      idx INTEGER PRIMARY KEY, tag TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, head BLOB NOT NULL,
      epoch INTEGER NOT NULL, sealed_seq INTEGER, sealed_head BLOB) STRICT;
    CREATE TABLE IF NOT EXISTS entry (
      chain INTEGER NOT NULL, seq INTEGER NOT NULL, log_index INTEGER NOT NULL, outbox_id TEXT NOT NULL, home TEXT NOT NULL,
      at TEXT NOT NULL, type TEXT NOT NULL, entity_type TEXT NOT NULL, entity_id TEXT NOT NULL, payload_hash TEXT NOT NULL,
      prev_hash BLOB NOT NULL, PRIMARY KEY (chain, seq)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS entry_place ON entry (log_index);
    CREATE TABLE IF NOT EXISTS head_node (
      height INTEGER NOT NULL, idx INTEGER NOT NULL, hash BLOB NOT NULL, epoch INTEGER NOT NULL, sealed BLOB,
      PRIMARY KEY (height, idx)) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS heads_record (log_index INTEGER PRIMARY KEY, record TEXT NOT NULL, root TEXT NOT NULL, size INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS period (
      number INTEGER PRIMARY KEY, at TEXT NOT NULL, size INTEGER NOT NULL, record_index INTEGER, checkpoint_size INTEGER) STRICT;
  `,
  rows: `${oldTransparencyLog.rows}
    INSERT INTO chain (idx, tag, seq, head, epoch, sealed_seq, sealed_head) VALUES (1, 'a', 2, x'dd', 1, NULL, NULL);
    INSERT INTO entry (chain, seq, log_index, outbox_id, home, at, type, entity_type, entity_id, payload_hash, prev_hash)
      VALUES (1, 1, 0, 'o1', '00', '2030-01-01T00:00:00.000Z', 'certificate.issued', 'certificate', 'cc_1', 'h', x'ee');
    INSERT INTO head_node (height, idx, hash, epoch, sealed) VALUES (0, 1, x'ff', 1, NULL);
    INSERT INTO heads_record (log_index, record, root, size) VALUES (1, 'r', 'h', 1);
    INSERT INTO period (number, at, size, record_index, checkpoint_size) VALUES (7, '2030-01-01T00:15:00.000Z', 2, 1, 2);
  `,
};

export const oldLedgerLog: OldStore = {
  tables: `${oldTransparencyLog.tables}
    CREATE TABLE IF NOT EXISTS witnessed (origin TEXT PRIMARY KEY, size TEXT NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL) STRICT;
  `,
  rows: `${oldTransparencyLog.rows}
    INSERT INTO witnessed (origin, size, root, note) VALUES ('log.test/audit/0', '12', x'01', 'note');
  `,
};

export const oldEventSequence: OldStore = {
  tables: `
    CREATE TABLE IF NOT EXISTS business (id TEXT PRIMARY KEY) STRICT;
    CREATE TABLE IF NOT EXISTS event (
      seq INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, share_id TEXT, cert_id TEXT, data_sealed TEXT,
      created_at INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS endpoint (
      ord INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL, events TEXT, description TEXT, status TEXT NOT NULL,
      secret_sealed TEXT NOT NULL, secret_hint TEXT NOT NULL, earlier_sealed TEXT, earlier_until INTEGER, created_at INTEGER NOT NULL,
      revision INTEGER NOT NULL, sent_revision INTEGER NOT NULL, acked INTEGER NOT NULL, removed INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS segment (
      number INTEGER PRIMARY KEY, after INTEGER NOT NULL, up_to INTEGER NOT NULL, moved INTEGER NOT NULL) STRICT;
  `,
  rows: `
    INSERT INTO event (seq, event_id, type, share_id, cert_id, data_sealed, created_at)
      VALUES (1, 'e1', 'certificate.revoked', NULL, 'cc_1', NULL, 1900000000000), (2, 'e2', 'certificate.revoked', NULL, 'cc_2', NULL, 1900000000001);
    INSERT INTO endpoint (ord, id, url, events, description, status, secret_sealed, secret_hint, earlier_sealed, earlier_until, created_at,
        revision, sent_revision, acked, removed)
      VALUES (1, 'wh_1', 'https://hook1.merchant-tests.com/', NULL, NULL, 'enabled', 's', 'h', NULL, NULL, 1900000000000, 1, 1, 2, 0);
    INSERT INTO segment (number, after, up_to, moved) VALUES (1, 0, 0, 0);
  `,
};

export const oldDeliveryQueue: OldStore = {
  tables: `
    CREATE TABLE IF NOT EXISTS lane (
      id INTEGER PRIMARY KEY CHECK (id = 1), endpoint_id TEXT NOT NULL, business_id TEXT NOT NULL, revision INTEGER NOT NULL,
      url TEXT NOT NULL, status TEXT NOT NULL, secret_sealed TEXT NOT NULL, earlier_sealed TEXT, earlier_until INTEGER,
      received INTEGER NOT NULL, failures INTEGER NOT NULL, failing_since INTEGER, alerted INTEGER NOT NULL,
      last_delivery_at INTEGER, last_status INTEGER) STRICT;
    CREATE TABLE IF NOT EXISTS delivery (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, event_id TEXT NOT NULL, type TEXT NOT NULL, share_id TEXT, cert_id TEXT,
      data_sealed TEXT, happened_at INTEGER NOT NULL, created_at INTEGER NOT NULL, status TEXT NOT NULL, attempt INTEGER NOT NULL,
      due INTEGER, interruptions INTEGER NOT NULL, unready INTEGER NOT NULL, response_status INTEGER, error TEXT,
      duration_ms INTEGER, delivered_at INTEGER, ended_at INTEGER) STRICT;
    CREATE INDEX IF NOT EXISTS delivery_due ON delivery (due, seq) WHERE due IS NOT NULL;
    CREATE INDEX IF NOT EXISTS delivery_ended ON delivery (status, ended_at) WHERE ended_at IS NOT NULL;
  `,
  rows: `
    INSERT INTO lane (id, endpoint_id, business_id, revision, url, status, secret_sealed, earlier_sealed, earlier_until, received, failures,
        failing_since, alerted, last_delivery_at, last_status)
      VALUES (1, 'wh_1', 'biz_1', 3, 'https://hook1.merchant-tests.com/', 'disabled', 's', NULL, NULL, 2, 1, 1900000000000, 0, 1900000000000, 500);
    INSERT INTO delivery (seq, id, event_id, type, share_id, cert_id, data_sealed, happened_at, created_at, status, attempt, due, interruptions,
        unready, response_status, error, duration_ms, delivered_at, ended_at)
      VALUES (1, 'dlv_1', 'e1', 'certificate.revoked', NULL, 'cc_1', NULL, 1900000000000, 1900000000000, 'success', 1, NULL, 0, 0, 200, NULL, 12,
          1900000000001, 1900000000001),
        (2, 'dlv_2', 'e2', 'certificate.revoked', NULL, 'cc_2', NULL, 1900000000000, 1900000000000, 'pending', 1, 1900000060000, 0, 0, 500, 'http',
          12, NULL, NULL);
  `,
};

export const oldRateLimiter: OldStore = {
  tables: "CREATE TABLE IF NOT EXISTS calls (at INTEGER NOT NULL)",
  rows: "INSERT INTO calls (at) VALUES (1900000000000), (1900000000001)",
};
