// The schema of an audit log.
import { logTables } from "../transparency-log/migrations.ts";

/**
 * The tree of chain heads changes, but it must stay possible to prove its earlier records. Chains and nodes therefore keep two states: the
 * current state and the state at the newest record. `epoch` counts records. A row that was last written in the current epoch keeps its
 * recorded state in the `sealed` columns (null if the row is newer than the record). All other rows have not changed since the record.
 */
const chainTables = `
  CREATE TABLE chain (
    idx INTEGER PRIMARY KEY, tag TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, head BLOB NOT NULL,
    epoch INTEGER NOT NULL, sealed_seq INTEGER, sealed_head BLOB) STRICT;
  CREATE TABLE entry (
    chain INTEGER NOT NULL, seq INTEGER NOT NULL, log_index INTEGER NOT NULL, change_id TEXT NOT NULL, change_ord INTEGER NOT NULL, shard TEXT NOT NULL,
    at INTEGER NOT NULL, type TEXT NOT NULL, entity_type TEXT NOT NULL, entity_id TEXT NOT NULL, payload_hash BLOB NOT NULL,
    prev_hash BLOB NOT NULL, payload TEXT, PRIMARY KEY (chain, seq)) STRICT, WITHOUT ROWID;
  CREATE INDEX entry_log_index ON entry (log_index);
  CREATE TABLE head_node (
    height INTEGER NOT NULL, idx INTEGER NOT NULL, hash BLOB NOT NULL, epoch INTEGER NOT NULL, sealed BLOB,
    PRIMARY KEY (height, idx)) STRICT, WITHOUT ROWID;
  CREATE TABLE heads_record (log_index INTEGER PRIMARY KEY, record TEXT NOT NULL, root TEXT NOT NULL, size INTEGER NOT NULL) STRICT;
  CREATE TABLE interval (
    number INTEGER PRIMARY KEY, at TEXT NOT NULL, size INTEGER NOT NULL, record_index INTEGER, checkpoint_size INTEGER) STRICT;
`;

export const auditLogSteps: readonly string[] = [logTables + chainTables];
