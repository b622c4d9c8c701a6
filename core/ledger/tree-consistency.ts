// Uses a log's tiles to check whether one of the log's trees extends an earlier one. Even an honest log can serve wrong tiles by mistake.
// `forked` is therefore reported only if the tiles provably belong to the tree that the log signed.
import { areBytesEqual } from "../bytes.ts";
import { buildConsistencyProof, isConsistent, computeRoot, type NodeReader, type TreeHead } from "./merkle.ts";
import { createTileNodeReader, listTilesRead, type TileReader, type TileLocation } from "./tiles.ts";

const buildConsistencyEvidence = (olderSize: bigint, newerSize: bigint, nodes: NodeReader) => ({
  olderRoot: computeRoot(olderSize, nodes),
  proof: buildConsistencyProof(olderSize, newerSize, nodes),
});

/** Lists the tiles of the newer tree that `checkTreeConsistency` will read. */
export const listConsistencyTiles = (olderSize: bigint, newerSize: bigint): TileLocation[] =>
  olderSize === newerSize || olderSize === 0n
    ? []
    : listTilesRead(newerSize, (nodes) => buildConsistencyEvidence(olderSize, newerSize, nodes));

/**
 * Checks whether the newer tree extends the older tree. `forked`: it does not start with the older tree. `unproven`: the tiles do not
 * belong to the newer tree.
 */
export const checkTreeConsistency = (older: TreeHead, newer: TreeHead, read: TileReader): "continues" | "forked" | "unproven" => {
  if (older.size === 0n) return "continues";
  if (older.size === newer.size) return areBytesEqual(older.root, newer.root) ? "continues" : "forked";
  const { olderRoot, proof } = buildConsistencyEvidence(older.size, newer.size, createTileNodeReader(newer.size, read));
  if (!isConsistent({ size: older.size, root: olderRoot }, newer, proof)) return "unproven";
  return areBytesEqual(olderRoot, older.root) ? "continues" : "forked";
};
