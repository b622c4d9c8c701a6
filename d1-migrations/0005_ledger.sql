-- What is known of each ledger, the checkpoints that were taken, and what others attested about them.

-- The last tree of a ledger that passed every check, and whether it may be asked at all.
CREATE TABLE ledger_state (
  ledger_id TEXT PRIMARY KEY,
  size TEXT NOT NULL DEFAULT '0',
  root TEXT,
  note TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  blocked_until INTEGER NOT NULL DEFAULT 0,
  -- Two signed trees that cannot both be true, as JSON; while it is set the ledger is asked nothing.
  fork TEXT,
  updated_at INTEGER NOT NULL
) STRICT;

-- One row a log and quarter of an hour: the checkpoint that was signed for it.
CREATE TABLE checkpoints (
  origin TEXT NOT NULL,
  window INTEGER NOT NULL,
  size TEXT NOT NULL,
  root TEXT NOT NULL,
  note TEXT NOT NULL,
  -- The largest heads record it covers, for audit logs.
  heads_root TEXT,
  heads_size TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (origin, window)
) STRICT;

-- The largest tree each shard of the audit log ever signed, remembered outside of it: a log whose storage was set back must find out and freeze.
CREATE TABLE log_highwater (
  shard INTEGER PRIMARY KEY,
  size TEXT NOT NULL,
  root TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Time stamps and cosignatures asked for a checkpoint, one row an attestor.
CREATE TABLE attestations (
  origin TEXT NOT NULL,
  window INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('rfc3161', 'cosignature')),
  attestor TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'attested', 'unverified', 'given_up')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  data TEXT,
  time TEXT,
  PRIMARY KEY (origin, window, kind, attestor),
  FOREIGN KEY (origin, window) REFERENCES checkpoints (origin, window)
) STRICT;
CREATE INDEX attestations_due ON attestations (next_at) WHERE status = 'pending';
