// The tables that every log has. The first migration step of each log class creates them.

/**
 * - `leaf`: the entries in order. Its greatest index determines the size of the log, which is not stored anywhere else.
 * - `leaf_key`: the index of each entry by the key that identifies it. Because this is a separate table, each key is stored once and not
 *   also in an index.
 * - `tile`: the tree, at most 8 KiB per row; the right edge is rewritten once per batch.
 * - `checkpoint`: every tree head ever signed.
 * - `meta`: individual values, such as the reason the log is frozen.
 */
export const logTables = `
  CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE leaf (idx INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT;
  CREATE TABLE leaf_key (key BLOB PRIMARY KEY, idx INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE tile (level INTEGER NOT NULL, n INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, n)) STRICT, WITHOUT ROWID;
  CREATE TABLE checkpoint (size INTEGER PRIMARY KEY, root BLOB NOT NULL, note TEXT NOT NULL, signed_at INTEGER NOT NULL) STRICT;
`;
