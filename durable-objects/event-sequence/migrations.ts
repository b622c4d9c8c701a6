// The schema of an event sequence and of its segments, which are objects of the same class.

export const eventSequenceSteps: readonly string[] = [
  `
  CREATE TABLE business (id TEXT PRIMARY KEY) STRICT;
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, share_id TEXT, cert_id TEXT, data_sealed TEXT,
    created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE endpoint (
    ord INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL, events TEXT, description TEXT, status TEXT NOT NULL,
    secret_sealed TEXT NOT NULL, secret_hint TEXT NOT NULL, earlier_sealed TEXT, earlier_until INTEGER, created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL, sent_revision INTEGER NOT NULL, acked INTEGER NOT NULL, removed INTEGER NOT NULL) STRICT;
  CREATE TABLE segment (
    number INTEGER PRIMARY KEY, after INTEGER NOT NULL, up_to INTEGER NOT NULL, moved INTEGER NOT NULL) STRICT;
`,
  "ALTER TABLE endpoint ADD COLUMN secret_at INTEGER",
];
