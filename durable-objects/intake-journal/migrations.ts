// The schema of an intake journal.

export const intakeJournalSteps: readonly string[] = [
  `
  -- The SQL of journaled statements, stored once, because every entry uses the same few.
  CREATE TABLE statement_text (id INTEGER PRIMARY KEY, sql TEXT NOT NULL UNIQUE) STRICT;

  -- Certificates that are not in the database yet, in the order of their issuance.
  CREATE TABLE entry (
    ord INTEGER PRIMARY KEY,
    cert_id TEXT NOT NULL UNIQUE,
    client_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    issued_at INTEGER NOT NULL,
    key_hash TEXT UNIQUE,
    body_hash TEXT,
    receipt_sealed TEXT,
    published TEXT NOT NULL,
    statements TEXT NOT NULL,
    twin_statements TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    refusals INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX entry_placing ON entry (refusals, ord);
  -- Lets the queries for the limits count entries and bytes without reading the entries.
  CREATE INDEX entry_usage ON entry (client_id, day, bytes);

  -- The responses of entries that were placed in the last seconds, because isolates may still send repeated requests here.
  CREATE TABLE placed_receipt (
    key_hash TEXT PRIMARY KEY, body_hash TEXT NOT NULL, receipt_sealed TEXT NOT NULL, placed_at INTEGER NOT NULL
  ) STRICT;
  `,
];
