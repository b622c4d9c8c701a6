// An independent transparency log for comparison. It follows RFC 6962 and tlog-tiles literally, is slow, and shares no code with the real
// log.
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(hash("sha256", Buffer.concat(parts), "buffer"));

export const naiveLeaf = (entry: Uint8Array): Uint8Array => sha256(new Uint8Array([0]), entry);

/** Returns the largest power of two below n. */
const largestPowerOfTwoBelow = (n: number): number => {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
};

/**
 * Computes MTH over ranges [from, to) of these leaf hashes (RFC 6962, 2.1). Roots are cached, because trees of adjacent sizes, and the
 * tiles of one tree, share subtrees.
 */
export const naiveRoots = (leaves: readonly Uint8Array[]): ((from: number, to: number) => Uint8Array) => {
  const known = new Map<number, Uint8Array>();
  const rootOf = (from: number, to: number): Uint8Array => {
    if (from === to) return sha256();
    if (to - from === 1) return leaves[from] as Uint8Array;
    const range = from * (leaves.length + 1) + to; // a number that is unique for each range
    const middle = from + largestPowerOfTwoBelow(to - from);
    const root = known.get(range) ?? sha256(new Uint8Array([1]), rootOf(from, middle), rootOf(middle, to));
    known.set(range, root);
    return root;
  };
  return rootOf;
};

/** Computes MTH over the leaf hashes [from, to). */
export const naiveRoot = (leaves: readonly Uint8Array[], from = 0, to = leaves.length): Uint8Array => naiveRoots(leaves)(from, to);

/** Computes PATH(m, D[n]) (RFC 6962, 2.1.1). */
export const naiveInclusion = (m: number, leaves: readonly Uint8Array[]): Uint8Array[] => {
  if (leaves.length <= 1) return [];
  const k = largestPowerOfTwoBelow(leaves.length);
  return m < k
    ? [...naiveInclusion(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naiveInclusion(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
};

const subproof = (m: number, leaves: readonly Uint8Array[], complete: boolean): Uint8Array[] => {
  if (m === leaves.length) return complete ? [] : [naiveRoot(leaves)];
  const k = largestPowerOfTwoBelow(leaves.length);
  return m <= k
    ? [...subproof(m, leaves.slice(0, k), complete), naiveRoot(leaves.slice(k))]
    : [...subproof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
};

/** Computes PROOF(m, D[n]) (RFC 6962, 2.1.2), for 0 < m <= n. */
export const naiveConsistency = (m: number, leaves: readonly Uint8Array[]): Uint8Array[] => subproof(m, leaves, true);

/**
 * Returns every tile of the tree with the first `size` leaves, as a map from path to bytes (tlog-tiles): MTH(D[(n*256+i) * 256^l :
 * (n*256+i+1) * 256^l]).
 */
export const naiveTiles = (
  leaves: readonly Uint8Array[],
  size = leaves.length,
  rootOf: (from: number, to: number) => Uint8Array = naiveRoots(leaves),
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
