// An independent transparency log for comparison. It follows RFC 6962 and tlog-tiles literally, is slow, and shares no code with the real
// log.
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";

const computeSha256 = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(hash("sha256", Buffer.concat(parts), "buffer"));

export const computeNaiveLeaf = (entry: Uint8Array): Uint8Array => computeSha256(new Uint8Array([0]), entry);

/** Returns the largest power of two below n. */
const findLargestPowerOfTwo = (n: number): number => {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
};

/**
 * Returns a function that computes MTH of the leaf hashes [from, to) (RFC 6962, 2.1). Roots are cached, because trees of adjacent sizes,
 * and the tiles of one tree, share subtrees.
 */
export const createNaiveRoots = (leaves: readonly Uint8Array[]): ((from: number, to: number) => Uint8Array) => {
  const known = new Map<number, Uint8Array>();
  const computeRoot = (from: number, end: number): Uint8Array => {
    if (from === end) return computeSha256();
    if (end - from === 1) return leaves[from] as Uint8Array;
    const range = from * (leaves.length + 1) + end; // a number that is unique for each range
    const middle = from + findLargestPowerOfTwo(end - from);
    const root = known.get(range) ?? computeSha256(new Uint8Array([1]), computeRoot(from, middle), computeRoot(middle, end));
    known.set(range, root);
    return root;
  };
  return computeRoot;
};

/** Computes MTH of the leaf hashes [from, end). */
export const computeNaiveRoot = (leaves: readonly Uint8Array[], from = 0, end = leaves.length): Uint8Array =>
  createNaiveRoots(leaves)(from, end);

/** Computes PATH(m, D[n]) (RFC 6962, 2.1.1). */
export const computeNaiveInclusion = (m: number, leaves: readonly Uint8Array[]): Uint8Array[] => {
  if (leaves.length <= 1) return [];
  const k = findLargestPowerOfTwo(leaves.length);
  return m < k
    ? [...computeNaiveInclusion(m, leaves.slice(0, k)), computeNaiveRoot(leaves.slice(k))]
    : [...computeNaiveInclusion(m - k, leaves.slice(k)), computeNaiveRoot(leaves.slice(0, k))];
};

const computeSubproof = (m: number, leaves: readonly Uint8Array[], complete: boolean): Uint8Array[] => {
  if (m === leaves.length) return complete ? [] : [computeNaiveRoot(leaves)];
  const k = findLargestPowerOfTwo(leaves.length);
  return m <= k
    ? [...computeSubproof(m, leaves.slice(0, k), complete), computeNaiveRoot(leaves.slice(k))]
    : [...computeSubproof(m - k, leaves.slice(k), false), computeNaiveRoot(leaves.slice(0, k))];
};

/** Computes PROOF(m, D[n]) (RFC 6962, 2.1.2), for 0 < m <= n. */
export const computeNaiveConsistency = (m: number, leaves: readonly Uint8Array[]): Uint8Array[] => computeSubproof(m, leaves, true);

/**
 * Returns every tile of the tree with the first `size` leaves, as a map from path to bytes. In tlog-tiles, hash i of tile n at level l is
 * MTH(D[(n*256+i) * 256^l : (n*256+i+1) * 256^l]).
 */
export const buildNaiveTiles = (
  leaves: readonly Uint8Array[],
  size = leaves.length,
  rootOf: (from: number, to: number) => Uint8Array = createNaiveRoots(leaves),
): Map<string, Uint8Array> => {
  const tiles = new Map<string, Uint8Array>();
  for (let level = 0; 256 ** level <= size; level += 1) {
    const span = 256 ** level;
    const hashes: Uint8Array[] = [];
    for (let i = 0; (i + 1) * span <= size; i += 1) hashes.push(rootOf(i * span, (i + 1) * span));
    for (let n = 0; n * 256 < hashes.length; n += 1) {
      const row = hashes.slice(n * 256, (n + 1) * 256);
      const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, "0");
      const groups = digits.match(/.{3}/g) ?? [];
      const last = groups.pop();
      const path = `tile/${level}/${groups.map((group) => `x${group}/`).join("")}${last}${row.length < 256 ? `.p/${row.length}` : ""}`;
      tiles.set(path, new Uint8Array(Buffer.concat(row)));
    }
  }
  return tiles;
};
