// Uses a log's tiles to check whether one of the log's trees extends an earlier one. An honest log can serve wrong tiles, so `forked` is
// reported only if the tiles prove that they belong to the tree that the log signed.
import { areBytesEqual } from "../bytes.ts";
import { buildConsistencyProof, isConsistent, computeRoot, type HashFunction, type TreeHead } from "./merkle.ts";
import { createTileNodeReader, listTilesRead, type TileReader, type TileLocation } from "./tiles.ts";

const buildConsistencyEvidence = (hash: HashFunction, olderSize: bigint, newerSize: bigint, read: TileReader) => {
  const nodes = createTileNodeReader(hash, newerSize, read);
  return { olderRoot: computeRoot(hash, olderSize, nodes), proof: buildConsistencyProof(hash, olderSize, newerSize, nodes) };
};

/** Lists the tiles of the newer tree that `checkTreeConsistency` reads. */
export const listConsistencyTiles = (olderSize: bigint, newerSize: bigint): TileLocation[] =>
  olderSize === newerSize || olderSize === 0n
    ? []
    : listTilesRead((hash, read) => buildConsistencyEvidence(hash, olderSize, newerSize, read));

/** `forked`: the newer tree does not start with the older tree. `unproven`: the tiles do not belong to the newer tree. */
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
