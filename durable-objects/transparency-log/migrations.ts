// The tables of every log. The first migration step of each log class creates them.

/**
 * - `leaf`: the entries in order, except those that are only in R2. The highest index gives the size of the log.
 * - `leaf_key`: the deduplication key and the index of each entry. A unique column in `leaf` would store each key twice.
 * - `tile`: the tree, at most 8 KiB per row. Each batch rewrites the tiles at the right edge of the tree.
 * - `checkpoint`: every tree head that the log has signed.
 * - `meta`: single values, such as the reason why the log is frozen.
 */
export const logTables = `
  CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE leaf (idx INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT;
  CREATE TABLE leaf_key (key BLOB PRIMARY KEY, idx INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE tile (level INTEGER NOT NULL, n INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, n)) STRICT, WITHOUT ROWID;
  CREATE TABLE checkpoint (size INTEGER PRIMARY KEY, root BLOB NOT NULL, note TEXT NOT NULL, signed_at INTEGER NOT NULL) STRICT;
`;
