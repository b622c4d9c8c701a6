// Whether one tree of a log goes on from another, shown by the log's own tiles. Tiles may be garbage where the log is honest: a
// log is accused of two histories only by tiles that prove themselves to be of the tree it signed.
import { isSameBytes } from "../bytes.ts";
import { consistencyProofOf, isConsistent, rootOf, type Hash, type TreeHead } from "./merkle.ts";
import { nodesFromTiles, tilesReadBy, type ReadTile, type TilePlace } from "./tiles.ts";

const evidence = (hash: Hash, olderSize: bigint, newerSize: bigint, read: ReadTile) => {
  const nodes = nodesFromTiles(hash, newerSize, read);
  return { olderRoot: rootOf(hash, olderSize, nodes), proof: consistencyProofOf(hash, olderSize, newerSize, nodes) };
};

/** The tiles of the newer tree that `continuation` reads. */
export const tilesForContinuation = (olderSize: bigint, newerSize: bigint): TilePlace[] =>
  olderSize === newerSize || olderSize === 0n ? [] : tilesReadBy((hash, read) => evidence(hash, olderSize, newerSize, read));

/** `forked`: the newer tree holds another beginning than the older one. `unproven`: these are not the newer tree's tiles. */
export const continuation = (hash: Hash, older: TreeHead, newer: TreeHead, read: ReadTile): "continues" | "forked" | "unproven" => {
  if (older.size === 0n) return "continues";
  if (older.size === newer.size) return isSameBytes(older.root, newer.root) ? "continues" : "forked";
  const { olderRoot, proof } = evidence(hash, older.size, newer.size, read);
  if (!isConsistent(hash, { size: older.size, root: olderRoot }, newer, proof)) return "unproven";
  return isSameBytes(olderRoot, older.root) ? "continues" : "forked";
};
