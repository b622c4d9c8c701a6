// c2sp.org/tlog-tiles: a log's tree as tiles of up to 256 hashes. This file formats tile paths, appends entries, and computes roots and
// proofs from tiles.
import { concatBytes } from "../bytes.ts";
import { buildConsistencyProof, parseCount, hashLength, buildInclusionProof, hashNode, computeRoot, type NodeReader } from "./merkle.ts";

export const tileWidth = 256;
const tileHeight = 8; // 2^8 = 256, so each hash of the next level covers one full tile
const maxTileLevel = 63;

/**
 * The location of a tile. `level` is `entries` for the entries themselves, 0 for the leaf hashes, and higher toward the root. A full tile
 * has a width of 256.
 */
export interface TileLocation {
  readonly level: number | "entries";
  readonly n: bigint;
  readonly width: number;
}

/** Formats a path such as `tile/0/x001/x234/067.p/9`, relative to the log's URL. */
export const formatTilePath = ({ level, n, width }: TileLocation): string => {
  const digits = n.toString();
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/[0-9]{3}/g) as string[];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/");
  return `tile/${level}/${path}${width === tileWidth ? "" : `.p/${width}`}`;
};

/** Parses a tile path. Returns null unless it is exactly what `formatTilePath` returns. */
export const parseTilePath = (path: string): TileLocation | null => {
  const match = /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,6}[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/.exec(path);
  if (match === null) return null;
  const [, level = "", groups = "", width] = match;
  const n = parseCount(groups.replaceAll(/[x/]/g, "").replace(/^0+(?=.)/, ""));
  if (n === null) return null;
  const location: TileLocation = {
    level: level === "entries" ? level : Number(level),
    n,
    width: width === undefined ? tileWidth : Number(width),
  };
  const fits = (location.level === "entries" || location.level <= maxTileLevel) && location.width >= 1 && location.width <= tileWidth;
  return fits && formatTilePath(location) === path ? location : null;
};

/** Returns the number of hashes in tile `n` of `level` in a tree with `size` leaves, or 0 if the tree has no such tile. */
export const getTileWidth = (level: number | "entries", n: bigint, size: bigint): number => {
  const hashes = size >> BigInt(tileHeight * (level === "entries" ? 0 : level));
  const width = hashes - n * BigInt(tileWidth);
  return width <= 0n ? 0 : width >= BigInt(tileWidth) ? tileWidth : Number(width);
};

/** Returns the first `width` hashes of a tile. If a wider version of the tile is stored, it must be cut to `width`. */
export type TileReader = (level: number, n: bigint, width: number) => Uint8Array;

const getHashAt = (tile: Uint8Array, at: number): Uint8Array => tile.subarray(at * hashLength, (at + 1) * hashLength);

/** Computes the root over a row of hashes, whose length must be a power of two. */
const computePerfectRoot = (hashes: readonly Uint8Array[]): Uint8Array => {
  let row = hashes;
  while (row.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < row.length; at += 2) above.push(hashNode(row[at] as Uint8Array, row[at + 1] as Uint8Array));
    row = above;
  }
  return row[0] as Uint8Array;
};

/** Computes the hash that represents a full tile in the level above. Returns null if the tile is not full. */
export const computeTileRoot = (tile: Uint8Array): Uint8Array | null =>
  tile.length === tileWidth * hashLength ? computePerfectRoot(Array.from({ length: tileWidth }, (_, at) => getHashAt(tile, at))) : null;

/**
 * Creates a reader of the nodes of a tree with `size` leaves. It reads each tile with the width that the tile has in a tree of that size.
 * It caches tiles and nodes, because one proof hashes up to 255 nodes of its leaf's tile, and the proofs of neighboring leaves share almost
 * all of them. The reader throws RangeError if a tile is too short.
 */
export const createTileNodeReader = (size: bigint, read: TileReader): NodeReader => {
  const tiles = new Map<string, Uint8Array>();
  const nodes = new Map<string, Uint8Array>();
  const tileAt = (level: number, n: bigint): Uint8Array => {
    const at = `${level}/${n}`;
    const known = tiles.get(at);
    if (known !== undefined) return known;
    const tile = read(level, n, getTileWidth(level, n, size));
    tiles.set(at, tile);
    return tile;
  };
  const nodeAt: NodeReader = (height, index) => {
    if (height % tileHeight === 0) {
      const level = height / tileHeight;
      const tile = tileAt(level, index / BigInt(tileWidth));
      const from = Number(index % BigInt(tileWidth));
      if (tile.length < (from + 1) * hashLength) throw new RangeError("tiles: the tile is too short for the tree size");
      return getHashAt(tile, from);
    }
    const at = `${height}/${index}`;
    const known = nodes.get(at);
    if (known !== undefined) return known;
    const node = hashNode(nodeAt(height - 1, index * 2n), nodeAt(height - 1, index * 2n + 1n));
    nodes.set(at, node);
    return node;
  };
  return nodeAt;
};

export const computeRootFromTiles = (size: bigint, read: TileReader): Uint8Array => computeRoot(size, createTileNodeReader(size, read));

export const buildInclusionProofFromTiles = (index: bigint, size: bigint, read: TileReader): Uint8Array[] =>
  buildInclusionProof(index, size, createTileNodeReader(size, read));

export const buildConsistencyProofFromTiles = (oldSize: bigint, newSize: bigint, read: TileReader): Uint8Array[] =>
  buildConsistencyProof(oldSize, newSize, createTileNodeReader(newSize, read));

/**
 * Lists the tiles that `build` reads in a tree with `size` leaves, without duplicates, so that the caller can fetch them first. Which nodes
 * a proof needs does not depend on their values, so this function calls `build` with zeros in place of the nodes.
 */
export const listTilesRead = (size: bigint, build: (read: NodeReader) => unknown): TileLocation[] => {
  const locations = new Map<string, TileLocation>();
  const zeros = new Uint8Array(hashLength);
  build((height, index) => {
    const level = Math.floor(height / tileHeight);
    const n = index >> BigInt(tileHeight - (height % tileHeight));
    const location = { level, n, width: getTileWidth(level, n, size) };
    locations.set(formatTilePath(location), location);
    return zeros;
  });
  return [...locations.values()];
};

export interface StoredTile {
  readonly level: number;
  readonly n: bigint;
  /** All hashes of the tile. */
  readonly data: Uint8Array<ArrayBuffer>;
}

/**
 * Returns the tiles that change when leaf hashes are appended to a tree with `size` leaves. Each tile is listed once, with its final
 * content. A level gets a new hash only when a tile of the level below becomes full. Throws RangeError if a tile at the right edge of the
 * tree has the wrong width.
 */
export const computeTilesAfterAppend = (size: bigint, leaves: readonly Uint8Array[], read: TileReader): StoredTile[] => {
  const changed: StoredTile[] = [];
  let arriving = leaves;
  for (let level = 0; arriving.length > 0; level += 1) {
    const before = size >> BigInt(tileHeight * level);
    let n = before / BigInt(tileWidth);
    const edgeWidth = Number(before % BigInt(tileWidth));
    const edge = edgeWidth === 0 ? new Uint8Array(0) : read(level, n, edgeWidth);
    if (edge.length !== edgeWidth * hashLength) throw new RangeError("tiles: the edge tile must match the tree size");
    const hashes = [...Array.from({ length: edgeWidth }, (_, at) => getHashAt(edge, at)), ...arriving];
    const full: Uint8Array[] = [];
    for (let at = 0; at < hashes.length; at += tileWidth) {
      const row = hashes.slice(at, at + tileWidth);
      changed.push({ level, n, data: concatBytes(...row) });
      if (row.length === tileWidth) full.push(computePerfectRoot(row));
      n += 1n;
    }
    arriving = full;
  }
  return changed;
};

const maxEntryBytes = 65_535; // the largest length that fits in an entry's uint16 prefix

/** Returns true for an entry of 1 to 65,535 bytes. */
export const isValidEntry = (entry: Uint8Array): boolean => entry.length >= 1 && entry.length <= maxEntryBytes;

/** Concatenates entries, each with its length as a big-endian uint16 prefix. Throws RangeError for an entry over 65,535 bytes. */
export const encodeEntryBundle = (entries: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  concatBytes(
    ...entries.flatMap((entry) => {
      if (entry.length > maxEntryBytes) throw new RangeError("tiles: an entry must be at most 65,535 bytes");
      return [new Uint8Array([entry.length >> 8, entry.length & 0xff]), entry];
    }),
  );

/** Parses a bundle. Returns null unless it consists of complete entries. */
export const parseEntryBundle = (bundle: Uint8Array): Uint8Array[] | null => {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bundle.length; ) {
    if (at + 2 > bundle.length) return null;
    const end = at + 2 + (((bundle[at] as number) << 8) | (bundle[at + 1] as number));
    if (end > bundle.length) return null;
    entries.push(bundle.slice(at + 2, end));
    at = end;
  }
  return entries;
};
