-- Work that follows a committed change, written in the same batch as the change: what is not here does not happen, and
-- what is here is done at least once, whatever process dies in between.

-- Entries on their way into the audit chains.
CREATE TABLE audit_outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  shard INTEGER NOT NULL,
  chain TEXT NOT NULL,
  type TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  payload_hash TEXT NOT NULL,
  payload_sealed TEXT,
  drained_at INTEGER
) STRICT;
CREATE INDEX audit_outbox_undrained ON audit_outbox (shard, ord) WHERE drained_at IS NULL;
CREATE INDEX audit_outbox_entity ON audit_outbox (entity_id);

-- Statements on their way into the ledger, and their receipts.
CREATE TABLE anchors (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  ledger_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('event', 'checkpoint')),
  entity_id TEXT NOT NULL,
  event TEXT NOT NULL,
  statement TEXT NOT NULL,
  entry_hash TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'prepared', 'anchored', 'parked')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL DEFAULT 0,
  lease TEXT,
  prepared TEXT,
  tx_ref TEXT,
  receipt TEXT,
  anchored_at INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (ledger_id, entry_hash)
) STRICT;
CREATE INDEX anchors_due ON anchors (ledger_id, next_at, ord) WHERE status IN ('pending', 'prepared');
CREATE INDEX anchors_entity ON anchors (entity_id, event);

-- Everything else that follows a change, one row a piece of work.
CREATE TABLE outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('policy')),
  entity_id TEXT NOT NULL,
  -- What rows of one kind are grouped by: for policies the domain, so that one look serves every certificate waiting for it.
  topic TEXT NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (kind, entity_id)
) STRICT;
CREATE INDEX outbox_due ON outbox (kind, next_at, ord);
CREATE INDEX outbox_topic ON outbox (kind, topic);
