// Whether one tree of a log goes on from another, shown by the log's own tiles. Tiles may be garbage where the log is honest: a
// log is accused of two histories only by tiles that prove themselves to be of the tree it signed.
import { areBytesEqual } from "../bytes.ts";
import { buildConsistencyProof, isConsistent, computeRoot, type HashFunction, type TreeHead } from "./merkle.ts";
import { createTileNodeReader, listTilesRead, type TileReader, type TileLocation } from "./tiles.ts";

const buildConsistencyEvidence = (hash: HashFunction, olderSize: bigint, newerSize: bigint, read: TileReader) => {
  const nodes = createTileNodeReader(hash, newerSize, read);
  return { olderRoot: computeRoot(hash, olderSize, nodes), proof: buildConsistencyProof(hash, olderSize, newerSize, nodes) };
};

/** The tiles of the newer tree that `continuation` reads. */
export const listConsistencyTiles = (olderSize: bigint, newerSize: bigint): TileLocation[] =>
  olderSize === newerSize || olderSize === 0n
    ? []
    : listTilesRead((hash, read) => buildConsistencyEvidence(hash, olderSize, newerSize, read));

/** `forked`: the newer tree holds another beginning than the older one. `unproven`: these are not the newer tree's tiles. */
export const checkTreeConsistency = (
  hash: HashFunction,
  older: TreeHead,
  newer: TreeHead,
  read: TileReader,
): "continues" | "forked" | "unproven" => {
  if (older.size === 0n) return "continues";
  if (older.size === newer.size) return areBytesEqual(older.root, newer.root) ? "continues" : "forked";
  const { olderRoot, proof } = buildConsistencyEvidence(hash, older.size, newer.size, read);
  if (!isConsistent(hash, { size: older.size, root: olderRoot }, newer, proof)) return "unproven";
  return areBytesEqual(olderRoot, older.root) ? "continues" : "forked";
};
