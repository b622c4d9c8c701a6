-- One fact can stand in the chains of two people, so an entry is unique by id and chain. And the outboxes take further kinds of work
-- without being made anew: which kinds there are stands in storage/schema.ts. SQLite changes no constraint in place, so the tables
-- are made, filled and renamed. Each goes on counting where it was, so that no ord is given out twice.
CREATE TABLE new_audit_outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  shard INTEGER NOT NULL,
  chain TEXT NOT NULL,
  type TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  payload_hash TEXT NOT NULL,
  payload_sealed TEXT,
  drained_at INTEGER,
  UNIQUE (id, chain)
) STRICT;
INSERT INTO new_audit_outbox (ord, id, shard, chain, type, entity_type, entity_id, at, payload_hash, payload_sealed, drained_at)
  SELECT ord, id, shard, chain, type, entity_type, entity_id, at, payload_hash, payload_sealed, drained_at FROM audit_outbox ORDER BY ord;
DROP TABLE audit_outbox;
ALTER TABLE new_audit_outbox RENAME TO audit_outbox;
CREATE INDEX audit_outbox_undrained ON audit_outbox (shard, ord) WHERE drained_at IS NULL;
CREATE INDEX audit_outbox_entity ON audit_outbox (entity_id);

CREATE TABLE new_anchors (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  ledger_id TEXT NOT NULL,
  kind TEXT NOT NULL,
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
INSERT INTO new_anchors (ord, id, ledger_id, kind, entity_id, event, statement, entry_hash, status, attempts, next_at, lease_until, lease,
    prepared, tx_ref, receipt, anchored_at, last_error, created_at)
  SELECT ord, id, ledger_id, kind, entity_id, event, statement, entry_hash, status, attempts, next_at, lease_until, lease,
    prepared, tx_ref, receipt, anchored_at, last_error, created_at FROM anchors ORDER BY ord;
DROP TABLE anchors;
ALTER TABLE new_anchors RENAME TO anchors;
CREATE INDEX anchors_due ON anchors (ledger_id, next_at, ord) WHERE status IN ('pending', 'prepared');
CREATE INDEX anchors_entity ON anchors (entity_id, event);

CREATE TABLE new_outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  -- What rows of one kind are grouped by: for policies the domain, so that one capture serves every certificate waiting for it.
  topic TEXT NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (kind, entity_id)
) STRICT;
-- Its rows are deleted when done, so the counter can be ahead of every row that is left.
INSERT INTO new_outbox (ord, kind, entity_id, topic, payload, next_at, created_at)
  SELECT seq, '', '', '', '', 0, 0 FROM sqlite_sequence WHERE name = 'outbox';
DELETE FROM new_outbox;
INSERT INTO new_outbox (ord, kind, entity_id, topic, payload, attempts, next_at, created_at)
  SELECT ord, kind, entity_id, topic, payload, attempts, next_at, created_at FROM outbox ORDER BY ord;
DROP TABLE outbox;
ALTER TABLE new_outbox RENAME TO outbox;
CREATE INDEX outbox_due ON outbox (kind, next_at, ord);
CREATE INDEX outbox_topic ON outbox (kind, topic);
