// Reads back from R2 the tiles and entries that a log has deleted from its tables. With them, the export contains the whole log, and the
// import needs no bucket.
import type { DatabaseSync } from "node:sqlite";
import { areBytesEqual, concatBytes } from "../../core/bytes.ts";
import { hashLeaf, hashLength } from "../../core/ledger/merkle.ts";
import { computeTileRoot, formatTilePath, parseEntryBundle, tileWidth } from "../../core/ledger/tiles.ts";

/** Returns the bytes of an object in R2, or null if there is none. */
export type FindTileBytes = (key: string) => Uint8Array | null;

const readMeta = (database: DatabaseSync, key: string): string =>
  String(database.prepare("SELECT v FROM meta WHERE k = ?").get(key)?.v ?? "");

/** Keys of the `meta` entries that describe this deployment's bucket. */
const bucketKeys: readonly string[] = ["uploaded_tiles", "removed_tiles", "upload_failures", "upload_retry_at"];

export const isBucketKey = (key: unknown): boolean => typeof key === "string" && bucketKeys.includes(key);

/**
 * Yields the rows of `leaf` or `tile` that the log has deleted. Throws if a tile is missing from R2, or if its bytes differ from those that
 * the log signed.
 */
export function* readRemovedRows(database: DatabaseSync, table: "leaf" | "tile", findTile: FindTileBytes): Generator<readonly unknown[]> {
  const removed = Number(readMeta(database, "removed_tiles"));
  const origin = readMeta(database, "origin");
  const readAbove = database.prepare("SELECT data FROM tile WHERE level = 1 AND n = ?");
  for (let n = 0; n < removed; n += 1) {
    const key = `${origin}/${formatTilePath({ level: "entries", n: BigInt(n), width: tileWidth })}`;
    const entries = parseEntryBundle(findTile(key) ?? new Uint8Array(0)) ?? [];
    const hashes = concatBytes(...entries.map((entry) => hashLeaf(entry)));
    const above = new Uint8Array((readAbove.get(Math.floor(n / tileWidth))?.data as Uint8Array | undefined) ?? []);
    const expected = above.subarray((n % tileWidth) * hashLength, ((n % tileWidth) + 1) * hashLength);
    const root = computeTileRoot(hashes);
    if (root === null || !areBytesEqual(root, expected)) throw new Error(`The bucket of the logs does not have the right bytes at ${key}.`);
    if (table === "tile") yield [0, n, hashes];
    else for (const [at, entry] of entries.entries()) yield [n * tileWidth + at, entry];
  }
}
