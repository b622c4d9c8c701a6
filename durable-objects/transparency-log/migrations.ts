// The tables that every log has, as the first step of each class that is one. Later steps are appended there, for each class.

/**
 * `leaf` holds the entries in their order; its greatest index is the size of the log, and the only place that says so.
 * `tile` holds the tree: at most 8 KiB a row, the right edge rewritten once a batch. `checkpoint` holds every tree head ever
 * signed. `meta` holds what is said once: why the log is frozen.
 */
export const logTables = `
  CREATE TABLE IF NOT EXISTS meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS leaf (idx INTEGER PRIMARY KEY, dedupe BLOB NOT NULL UNIQUE, entry BLOB NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS tile (level INTEGER NOT NULL, n INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, n)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS checkpoint (size INTEGER PRIMARY KEY, root BLOB NOT NULL, note TEXT NOT NULL, signed_at INTEGER NOT NULL) STRICT;
`;
