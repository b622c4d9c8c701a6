// The schema of the audit log, step by step.
import { logTables } from "../transparency-log/migrations.ts";

/**
 * The tree of heads changes, and its records must stay provable: so chains and nodes keep two states, the current one and the
 * one at the newest record. `epoch` counts records; a row last written in the current epoch holds its recorded state in
 * the sealed columns (nulls when it is younger), any other row has not changed since.
 */
const chainTables = `
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
`;

export const auditLogSteps: readonly string[] = [logTables + chainTables];
