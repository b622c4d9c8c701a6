// The schema of an audit log.
import { logTables } from "../transparency-log/migrations.ts";

/**
 * The head of a chain is its newest entry. The heads of all chains are the leaves of a tree, and each row of `heads_record` stores the root
 * of this tree. The tree changes with every entry, but proofs need the tree as it was at the newest record. The tables `chain` and
 * `head_node` therefore store both states:
 * - `epoch` is the number of records that existed when the row was last written.
 * - If a record has been added since then, the row itself is the state at the newest record.
 * - Otherwise, the `sealed` columns contain that state. They are null if the row did not exist at that time.
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
