// The schema of a delivery queue. The tables are created in `open`. If the object's constructor created them, any call to a deleted queue
// would create them again.

export const deliveryQueueSteps: readonly string[] = [
  `
  CREATE TABLE queue (
    id INTEGER PRIMARY KEY CHECK (id = 1), endpoint_id TEXT NOT NULL, business_id TEXT NOT NULL, revision INTEGER NOT NULL,
    url TEXT NOT NULL, status TEXT NOT NULL, secret_sealed TEXT NOT NULL, earlier_sealed TEXT, earlier_until INTEGER,
    received INTEGER NOT NULL, failures INTEGER NOT NULL, failing_since INTEGER, alerted INTEGER NOT NULL,
    last_delivery_at INTEGER, last_status INTEGER) STRICT;
  CREATE TABLE delivery (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, event_id TEXT NOT NULL, type TEXT NOT NULL, share_id TEXT, cert_id TEXT,
    data_sealed TEXT, happened_at INTEGER NOT NULL, created_at INTEGER NOT NULL, status TEXT NOT NULL, attempt INTEGER NOT NULL,
    due INTEGER, interruptions INTEGER NOT NULL, unready INTEGER NOT NULL, response_status INTEGER, error TEXT,
    duration_ms INTEGER, delivered_at INTEGER, ended_at INTEGER, resend INTEGER NOT NULL DEFAULT 0, failed_at INTEGER) STRICT;
  CREATE INDEX delivery_due ON delivery (due, seq) WHERE due IS NOT NULL;
  CREATE INDEX delivery_ended ON delivery (status, ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX delivery_resend ON delivery (due) WHERE resend = 1;
  CREATE TABLE attempt_hour (start INTEGER PRIMARY KEY, delivered INTEGER NOT NULL, failed INTEGER NOT NULL) STRICT;
`,
  `
  CREATE TABLE attempt (
    failed INTEGER NOT NULL, n INTEGER NOT NULL, seq INTEGER NOT NULL, number INTEGER NOT NULL, resend INTEGER NOT NULL,
    at INTEGER NOT NULL, response_status INTEGER, error TEXT, duration_ms INTEGER NOT NULL, exchange_sealed TEXT,
    PRIMARY KEY (failed, n)) STRICT, WITHOUT ROWID;
  CREATE INDEX attempt_delivery ON attempt (seq, at);
  CREATE INDEX delivery_abandoned ON delivery (seq) WHERE status = 'abandoned';
  CREATE INDEX delivery_retrying ON delivery (seq) WHERE due IS NOT NULL AND attempt > 0;
`,
  `
  ALTER TABLE queue ADD COLUMN proven_host TEXT;
  ALTER TABLE queue ADD COLUMN paused_until INTEGER;
`,
];
