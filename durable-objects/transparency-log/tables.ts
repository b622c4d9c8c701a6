// A transparency log's tables. Each function is synchronous, so no other request can run partway through it.
import { hashLeaf, type TreeHead } from "../../core/ledger/merkle.ts";
import { formatTlogProof } from "../../core/ledger/tlog-proof.ts";
import {
  buildConsistencyProofFromTiles,
  buildInclusionProofFromTiles,
  computeRootFromTiles,
  computeTilesAfterAppend,
  encodeEntryBundle,
  tileWidth,
  getTileWidth,
  type TileLocation,
  type TileReader,
} from "../../core/ledger/tiles.ts";
import { toHex, areBytesEqual } from "../../core/bytes.ts";
import type { Instant } from "../../core/time.ts";

const hashBytes = 32;

export const findMeta = (sql: SqlStorage, key: string): string | null =>
  sql.exec<{ v: string }>("SELECT v FROM meta WHERE k = ?", key).toArray()[0]?.v ?? null;

export const setMeta = (sql: SqlStorage, key: string, value: string): void => {
  sql.exec("INSERT INTO meta (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", key, value);
};

/** Returns the reason why the log is frozen, or null if it is not frozen. A frozen log accepts no entries and signs nothing. */
export const findFreezeReason = (sql: SqlStorage): string | null => findMeta(sql, "frozen");

/** Freezes the log until its storage is restored. If the log is already frozen, keeps the first reason. */
const freeze = (sql: SqlStorage, reason: string): void => {
  sql.exec("INSERT INTO meta (k, v) VALUES ('frozen', ?) ON CONFLICT (k) DO NOTHING", reason);
};

class LogFrozen extends Error {
  constructor(reason: string) {
    super(`the log is frozen: ${reason}`);
    this.name = "LogFrozen";
  }
}

export const getLogSize = (sql: SqlStorage): number =>
  sql.exec<{ size: number }>("SELECT COALESCE(MAX(idx) + 1, 0) AS size FROM leaf").one().size;

/** Returns the number of level-0 tiles that are only in R2, with their entry bundles. These are the oldest tiles. */
export const countRemovedTiles = (sql: SqlStorage): number => Number(findMeta(sql, "removed_tiles") ?? "0");

export const isTileRemoved = (sql: SqlStorage, { level, n }: Pick<TileLocation, "level" | "n">): boolean =>
  (level === 0 || level === "entries") && n < countRemovedTiles(sql);

/**
 * Returns the first `width` hashes of a tile, or all of them if there are fewer. Throws if the tile is only in R2. If the function returned
 * no hashes, the log would treat the tile as lost and freeze.
 */
export const readTile: (sql: SqlStorage, ...location: Parameters<TileReader>) => Uint8Array = (sql, level, n, width) => {
  const row = sql.exec<{ data: ArrayBuffer }>("SELECT data FROM tile WHERE level = ? AND n = ?", level, Number(n)).toArray()[0];
  if (row === undefined && isTileRemoved(sql, { level, n })) throw new Error("log: the tile is only in R2");
  return new Uint8Array(row?.data ?? new ArrayBuffer(0)).subarray(0, width * hashBytes);
};

const tileReader =
  (sql: SqlStorage): TileReader =>
  (level, n, width) =>
    readTile(sql, level, n, width);

export const computeRoot = (sql: SqlStorage, size: number): Uint8Array => computeRootFromTiles(BigInt(size), tileReader(sql));

/** Formats the tlog-proof of the entry at `index`. The checkpoint must cover the entry. `read` reads the log's tiles. */
export const formatProofFromTiles = (index: number, checkpoint: SignedCheckpoint, read: TileReader): string => {
  const hashes = buildInclusionProofFromTiles(BigInt(index), BigInt(checkpoint.size), read);
  return formatTlogProof({ index: BigInt(index), hashes, checkpoint: checkpoint.note });
};

/** Like `formatProofFromTiles`, with the tiles in the log's own table. Throws if the proof needs a tile that is only in R2. */
export const buildTlogProof = (sql: SqlStorage, index: number, checkpoint: SignedCheckpoint): string =>
  formatProofFromTiles(index, checkpoint, tileReader(sql));

export const buildConsistencyProof = (sql: SqlStorage, oldSize: number, newSize: number): Uint8Array[] =>
  buildConsistencyProofFromTiles(BigInt(oldSize), BigInt(newSize), tileReader(sql));

export interface NewLeaf {
  /** Identifies the entry, so that it is not added twice. At least 16 bytes. */
  readonly dedupeKey: Uint8Array;
  readonly entry: Uint8Array;
}

/**
 * Appends the leaves in order and returns the index of each. A leaf that is already in the log keeps its index. Call this function inside a
 * transaction, so that leaves and tiles are written together. Throws LogFrozen if the log is frozen.
 */
export const appendLeaves = (sql: SqlStorage, leaves: readonly NewLeaf[]): number[] => {
  const reason = findFreezeReason(sql);
  if (reason !== null) throw new LogFrozen(reason);
  const size = getLogSize(sql);
  const added: Uint8Array[] = [];
  const indices = leaves.map(({ dedupeKey, entry }) => {
    const known = findLeafIndex(sql, dedupeKey);
    if (known !== null) return known;
    const index = size + added.length;
    sql.exec("INSERT INTO leaf_key (key, idx) VALUES (?, ?)", dedupeKey, index);
    sql.exec("INSERT INTO leaf (idx, entry) VALUES (?, ?)", index, entry);
    added.push(hashLeaf(entry));
    return index;
  });
  for (const { level, n, data } of computeTilesAfterAppend(BigInt(size), added, edgeTileReader(sql))) {
    sql.exec(
      "INSERT INTO tile (level, n, data) VALUES (?, ?, ?) ON CONFLICT (level, n) DO UPDATE SET data = excluded.data",
      level,
      Number(n),
      data,
    );
  }
  return indices;
};

/** Ignores `width` and reads each tile at its full stored width, so that `computeTilesAfterAppend` notices a tile that is too wide. */
const edgeTileReader =
  (sql: SqlStorage): TileReader =>
  (level, n) =>
    tileReader(sql)(level, n, tileWidth);

export const findLeafIndex = (sql: SqlStorage, key: Uint8Array): number | null =>
  sql.exec<{ idx: number }>("SELECT idx FROM leaf_key WHERE key = ?", key).toArray()[0]?.idx ?? null;

/** Returns the first `width` hashes of a tile, or null if there are fewer. */
export const findPublishedTile = (sql: SqlStorage, level: number, n: bigint, width: number): Uint8Array | null => {
  const tile = tileReader(sql)(level, n, width);
  return tile.length === width * hashBytes ? tile : null;
};

/** Returns the first `width` entries of bundle `n`, or null if the log has fewer. */
export const listPublishedEntries = (sql: SqlStorage, n: bigint, width: number): Uint8Array[] | null => {
  if (getTileWidth("entries", n, BigInt(getLogSize(sql))) < width) return null;
  const first = Number(n) * tileWidth;
  return sql
    .exec<{ entry: ArrayBuffer }>("SELECT entry FROM leaf WHERE idx >= ? AND idx < ? ORDER BY idx", first, first + width)
    .toArray()
    .map(({ entry }) => new Uint8Array(entry));
};

/** Returns the bytes of a full tile or entry bundle. Throws a RangeError if the log does not have it. */
export const readFullTile = (sql: SqlStorage, { level, n }: TileLocation): Uint8Array<ArrayBuffer> => {
  const entries = level === "entries" ? listPublishedEntries(sql, n, tileWidth) : null;
  const bytes = level === "entries" ? entries && encodeEntryBundle(entries) : findPublishedTile(sql, level, n, tileWidth);
  if (bytes === null) throw new RangeError("log: there is no such full tile");
  return new Uint8Array(bytes);
};

/** Returns the number of level-0 tiles that have been uploaded to R2 with their entries. These are the oldest tiles. */
export const countUploadedTiles = (sql: SqlStorage): number => Number(findMeta(sql, "uploaded_tiles") ?? "0");

export const saveUploadedTiles = (sql: SqlStorage, count: number): void => setMeta(sql, "uploaded_tiles", String(count));

/** Deletes the oldest level-0 tile in the table, with its entries. Call it inside a transaction. */
export const removeOldestTile = (sql: SqlStorage): void => {
  const n = countRemovedTiles(sql);
  sql.exec("DELETE FROM leaf WHERE idx >= ? AND idx < ?", n * tileWidth, (n + 1) * tileWidth);
  sql.exec("DELETE FROM tile WHERE level = 0 AND n = ?", n);
  setMeta(sql, "removed_tiles", String(n + 1));
};

export interface SignedCheckpoint {
  readonly size: number;
  readonly root: Uint8Array;
  /** The signed note, without cosignatures. */
  readonly note: string;
  readonly signedAt: Instant;
}

type CheckpointRow = { size: number; root: ArrayBuffer; note: string; signed_at: number };

const toSignedCheckpoint = (row: CheckpointRow | undefined): SignedCheckpoint | null =>
  row === undefined ? null : { size: row.size, root: new Uint8Array(row.root), note: row.note, signedAt: row.signed_at };

export const findNewestCheckpoint = (sql: SqlStorage): SignedCheckpoint | null =>
  toSignedCheckpoint(sql.exec<CheckpointRow>("SELECT size, root, note, signed_at FROM checkpoint ORDER BY size DESC LIMIT 1").toArray()[0]);

export const findCheckpoint = (sql: SqlStorage, size: number): SignedCheckpoint | null =>
  toSignedCheckpoint(sql.exec<CheckpointRow>("SELECT size, root, note, signed_at FROM checkpoint WHERE size = ?", size).toArray()[0]);

/** Returns the smallest checkpoint that covers `size` entries, or null if there is none yet. */
export const findOldestCheckpointCovering = (sql: SqlStorage, size: number): SignedCheckpoint | null =>
  toSignedCheckpoint(
    sql.exec<CheckpointRow>("SELECT size, root, note, signed_at FROM checkpoint WHERE size >= ? ORDER BY size LIMIT 1", size).toArray()[0],
  );

/**
 * Freezes the log if its tree does not extend `head`, an earlier tree of this log. In that case, the storage was changed or restored to an
 * earlier state, and another signature would start a second history. Returns true if the log is not frozen.
 */
export const freezeUnlessConsistent = (sql: SqlStorage, head: { readonly size: number; readonly root: Uint8Array }): boolean => {
  if (findFreezeReason(sql) !== null) return false;
  const size = getLogSize(sql);
  if (size < head.size) {
    freeze(sql, `the log had ${head.size} entries and has ${size}`);
    return false;
  }
  if (!areBytesEqual(computeRootOrEmpty(sql, head.size), head.root)) {
    freeze(sql, `at size ${head.size} the root was ${toHex(head.root)}`);
    return false;
  }
  return true;
};

/** Returns the root of the tree, or an empty array if tiles are missing or too short. An empty array never equals a root. */
const computeRootOrEmpty = (sql: SqlStorage, size: number): Uint8Array => {
  try {
    return computeRoot(sql, size);
  } catch (error) {
    if (error instanceof RangeError) return new Uint8Array(0);
    throw error;
  }
};

/** Returns the current tree if it extends the last signed tree. Otherwise, freezes the log. Returns null if the log is frozen. */
export const findHeadToSign = (sql: SqlStorage): TreeHead | null => {
  const newest = findNewestCheckpoint(sql);
  if (findFreezeReason(sql) !== null || (newest !== null && !freezeUnlessConsistent(sql, newest))) return null;
  const size = getLogSize(sql);
  return { size: BigInt(size), root: computeRoot(sql, size) };
};

/**
 * Saves a checkpoint and returns it. If a larger checkpoint was saved first, returns that one. If the log has already signed another root
 * for the same size, freezes the log. Returns null if the log is frozen.
 */
export const saveCheckpoint = (sql: SqlStorage, signed: SignedCheckpoint): SignedCheckpoint | null => {
  if (findFreezeReason(sql) !== null) return null;
  const newest = findNewestCheckpoint(sql);
  if (newest !== null && newest.size > signed.size) return newest;
  if (newest !== null && newest.size === signed.size && !areBytesEqual(newest.root, signed.root)) {
    freeze(sql, `two roots at size ${signed.size}`);
    return null;
  }
  sql.exec(
    "INSERT INTO checkpoint (size, root, note, signed_at) VALUES (?, ?, ?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note",
    signed.size,
    signed.root,
    signed.note,
    signed.signedAt,
  );
  return signed;
};
