// Reads tiles that a log has deleted from its own tables and that only R2 contains. R2 is not trusted, so each tile is compared with its
// hash in the level above, which the log keeps.
import { BoundedMap } from "../../core/bounded-map.ts";
import { areBytesEqual, concatBytes } from "../../core/bytes.ts";
import type { Bytes } from "../../core/hash.ts";
import { hashLeaf, hashLength, type NodeReader } from "../../core/ledger/merkle.ts";
import {
  computeTileRoot,
  formatTilePath,
  listTilesRead,
  parseEntryBundle,
  tileWidth,
  type TileLocation,
  type TileReader,
} from "../../core/ledger/tiles.ts";
import { findTile, TileConflict, type TileBucket } from "../../storage/log-tiles.ts";
import { isTileRemoved, readTile } from "./tables.ts";

const maxCachedTiles = 64; // each takes 8 KiB; proofs of neighboring entries use the same tile

/** Thrown if R2 does not return the right bytes of a tile. The same request may succeed later. */
export class TileUnavailable extends Error {
  constructor(path: string) {
    super(`${path} cannot be read from R2`);
    this.name = "TileUnavailable";
  }
}

/** Returns the leaf hashes of a level-0 tile or entry bundle, or null if the bundle is malformed. */
const toLeafHashes = ({ level }: TileLocation, bytes: Bytes): Uint8Array | null => {
  if (level !== "entries") return bytes;
  const entries = parseEntryBundle(bytes);
  return entries === null ? null : concatBytes(...entries.map((entry) => hashLeaf(entry)));
};

export class RemovedTiles {
  readonly #sql: SqlStorage;
  readonly #bucket: TileBucket | null;
  readonly #cached = new BoundedMap<string, Bytes>(maxCachedTiles);

  constructor(sql: SqlStorage, bucket: TileBucket | null) {
    this.#sql = sql;
    this.#bucket = bucket;
  }

  /** Returns a full level-0 tile or entry bundle. Throws TileUnavailable unless R2 returns the right bytes. */
  async load(location: TileLocation): Promise<Bytes> {
    const full = { ...location, width: tileWidth };
    const path = formatTilePath(full);
    const cached = this.#cached.get(path);
    if (cached !== undefined) return cached;
    try {
      const bytes = this.#bucket === null ? null : await findTile(this.#bucket, full);
      if (bytes === null || !this.#belongsToLog(full, bytes)) throw bytes === null ? new TileUnavailable(path) : new TileConflict(path);
      if (full.level === 0) this.#cached.set(path, bytes);
      return bytes;
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : "unknown";
      console.error(JSON.stringify({ level: "error", at: "log-tiles.read", error: reason }));
      throw new TileUnavailable(path);
    }
  }

  #belongsToLog(location: TileLocation, bytes: Bytes): boolean {
    const hashes = toLeafHashes(location, bytes);
    const root = hashes === null ? null : computeTileRoot(hashes);
    const at = Number(location.n % BigInt(tileWidth));
    const above = readTile(this.#sql, 1, location.n / BigInt(tileWidth), at + 1);
    return root !== null && areBytesEqual(root, above.subarray(at * root.length));
  }

  /**
   * Loads the tiles that `build` reads nodes from, and returns a reader for only these tiles. Throws TileUnavailable if one of them is only
   * in R2 and cannot be read.
   */
  async openReader(size: bigint, build: (read: NodeReader) => unknown): Promise<TileReader> {
    const tiles = new Map<string, Uint8Array>();
    for (const location of listTilesRead(size, build)) {
      const { level, n, width } = location;
      const tile = isTileRemoved(this.#sql, location) ? await this.load(location) : readTile(this.#sql, level as number, n, width);
      tiles.set(formatTilePath(location), tile.subarray(0, width * hashLength));
    }
    return (level, n, width) => tiles.get(formatTilePath({ level, n, width })) ?? new Uint8Array(0);
  }
}
