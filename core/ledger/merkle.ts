// Merkle trees as in RFC 6962: roots, inclusion and consistency proofs, and their verification (RFC 9162, 2.1.3.2 and 2.1.4.2). Sizes
// have the type bigint, because numbers above 2^53 are rounded, and a proof could be valid for the rounded size.
import { concatBytes, areBytesEqual } from "../bytes.ts";
import { sha256 } from "../hash.ts";

export const hashLength = 32;
const leafPrefix = new Uint8Array([0]); // the two prefixes prevent a 64-byte entry from passing as a node

export const hashLeaf = (entry: Uint8Array): Uint8Array => sha256(concatBytes(leafPrefix, entry));

// Every node is assembled in this buffer. Creating an array for each node would be slow, because JavaScript engines allocate arrays of more
// than 64 bytes outside their heap. Sharing the buffer is safe, because hashing is synchronous and keeps no reference to it.
const nodeBuffer = new Uint8Array(1 + 2 * hashLength);
nodeBuffer[0] = 1;

/** Hashes a node. Throws RangeError unless both children are hashes. */
export const hashNode = (left: Uint8Array, right: Uint8Array): Uint8Array => {
  if (left.length !== hashLength || right.length !== hashLength) throw new RangeError("merkle: a node must have two hashes of 32 bytes");
  nodeBuffer.set(left, 1);
  nodeBuffer.set(right, 1 + hashLength);
  return sha256(nodeBuffer);
};

/** `hashNode`, or a version of it with a cache, for checking many proofs from one tree. */
export type NodeHash = typeof hashNode;

export const computeEmptyRoot = (): Uint8Array => sha256(new Uint8Array(0));

const maxTreeSize = (1n << 63n) - 1n; // other implementations store sizes as signed 64-bit integers
const maxProofHashes = 63;

/** Parses a decimal count below 2^63 without sign or leading zeros. Returns null for anything else. */
export const parseCount = (text: string): bigint | null => {
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(text)) return null;
  const count = BigInt(text);
  return count <= maxTreeSize ? count : null;
};

/** Returns the number of bits in `value`, which must have at most 63. */
const getBitLength = (value: bigint): number => {
  const high = Number(value >> 32n);
  return high === 0 ? 32 - Math.clz32(Number(value)) : 64 - Math.clz32(high);
};
const countOneBits = (value: bigint): number => value.toString(2).replaceAll("0", "").length;
const isOdd = (value: bigint): boolean => (value & 1n) === 1n;
const isPowerOfTwo = (value: bigint): boolean => value > 0n && (value & (value - 1n)) === 0n;

/** Returns the largest power of two smaller than `size`, where RFC 6962 splits a tree. `size` must be at least 2. */
const findSplitPoint = (size: bigint): bigint => 1n << BigInt(getBitLength(size - 1n) - 1);

/** Returns the exact number of hashes that an inclusion proof must have. */
export const getInclusionProofLength = (index: bigint, size: bigint): number => {
  const inner = getBitLength(index ^ (size - 1n));
  return inner + countOneBits(index >> BigInt(inner));
};

/**
 * Returns how many hashes the inclusion proofs of two leaves share, counted from the root. `first` must not be greater than `second`. At
 * the node where the two paths separate, the first leaf is in the left subtree, which is perfect. The number of hashes that only the first
 * leaf's proof contains is therefore the height of that node: the position, counted from 1, of the highest bit in which the indexes differ.
 */
export const countSharedProofHashes = (first: bigint, second: bigint, size: bigint): number =>
  getInclusionProofLength(first, size) - getBitLength(first ^ second);

const areHashes = (hashes: readonly Uint8Array[]): boolean => hashes.every((hash) => hash.length === hashLength);

/** Computes the root from a leaf and its proof. Returns null if the index is outside the tree or the proof has the wrong length. */
export const computeRootFromInclusion = (
  claim: { readonly leaf: Uint8Array; readonly index: bigint; readonly size: bigint; readonly proof: readonly Uint8Array[] },
  hash: NodeHash = hashNode,
): Uint8Array | null => {
  const { leaf, index, size, proof } = claim;
  if (index < 0n || index >= size || size > maxTreeSize || proof.length !== getInclusionProofLength(index, size)) return null;
  if (leaf.length !== hashLength || !areHashes(proof)) return null;
  let node = index;
  let last = size - 1n;
  let root = leaf;
  for (const sibling of proof) {
    if (isOdd(node) || node === last) {
      root = hash(sibling, root);
      while (!isOdd(node) && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      root = hash(root, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? root : null;
};

export interface TreeHead {
  readonly size: bigint;
  readonly root: Uint8Array;
}

/** Returns true if `proof` shows that the newer tree starts with all leaves of the older tree, in order. */
export const isConsistent = (older: TreeHead, newer: TreeHead, proof: readonly Uint8Array[], hash: NodeHash = hashNode): boolean => {
  if (older.size < 0n || older.size > newer.size || newer.size > maxTreeSize || proof.length > maxProofHashes) return false;
  if (older.root.length !== hashLength || newer.root.length !== hashLength || !areHashes(proof)) return false;
  if (older.size === 0n && !areBytesEqual(older.root, computeEmptyRoot())) return false;
  if (older.size === newer.size) return proof.length === 0 && areBytesEqual(older.root, newer.root);
  if (older.size === 0n) return proof.length === 0;
  const path = isPowerOfTwo(older.size) ? [older.root, ...proof] : proof;
  const [first, ...rest] = path;
  if (first === undefined) return false;
  let node = older.size - 1n;
  let last = newer.size - 1n;
  while (isOdd(node)) {
    node >>= 1n;
    last >>= 1n;
  }
  let olderRoot = first;
  let newerRoot = first;
  for (const sibling of rest) {
    if (last === 0n) return false;
    if (isOdd(node) || node === last) {
      olderRoot = hash(sibling, olderRoot);
      newerRoot = hash(sibling, newerRoot);
      while (!isOdd(node) && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      newerRoot = hash(newerRoot, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && areBytesEqual(olderRoot, older.root) && areBytesEqual(newerRoot, newer.root);
};

/** Returns the hash of the perfect subtree over the 2^height leaves that start at leaf `index` * 2^height. */
export type NodeReader = (height: number, index: bigint) => Uint8Array;

/**
 * Computes the root over the leaves [start, end). `start` must be aligned: each perfect subtree of the range must start at a multiple of
 * its size.
 */
const computeRangeRoot = (start: bigint, end: bigint, read: NodeReader, hash: NodeHash): Uint8Array => {
  const pieces: Uint8Array[] = [];
  for (let at = start; at < end; ) {
    const height = getBitLength(end - at) - 1;
    pieces.push(read(height, at >> BigInt(height)));
    at += 1n << BigInt(height);
  }
  let root = pieces.pop() ?? computeEmptyRoot();
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) root = hash(piece, root);
  return root;
};

export const computeRoot = (size: bigint, read: NodeReader): Uint8Array => computeRangeRoot(0n, size, read, hashNode);

/**
 * Descends from the root toward leaf `index` until `isTarget` accepts the range of leaves. `downward` contains the sibling hashes, root
 * first.
 */
const descendToLeaf = (
  index: bigint,
  size: bigint,
  read: NodeReader,
  hash: NodeHash,
  isTarget: (start: bigint, end: bigint) => boolean,
) => {
  const downward: Uint8Array[] = [];
  let start = 0n;
  let end = size;
  while (!isTarget(start, end)) {
    const middle = start + findSplitPoint(end - start);
    if (index < middle) {
      downward.push(computeRangeRoot(middle, end, read, hash));
      end = middle;
    } else {
      downward.push(computeRangeRoot(start, middle, read, hash));
      start = middle;
    }
  }
  return { downward, start, end };
};

/**
 * Returns the audit path from the leaf to the root: the sibling hashes, lowest first. Throws RangeError if the index is outside the tree.
 */
export const buildInclusionProof = (index: bigint, size: bigint, read: NodeReader, hash: NodeHash = hashNode): Uint8Array[] => {
  if (index < 0n || index >= size) throw new RangeError("merkle: the index must be inside the tree");
  return descendToLeaf(index, size, read, hash, (start, end) => end - start === 1n).downward.reverse();
};

/** Returns the proof that the new tree starts with the old tree. Throws RangeError if the old tree is larger. */
export const buildConsistencyProof = (oldSize: bigint, newSize: bigint, read: NodeReader, hash: NodeHash = hashNode): Uint8Array[] => {
  if (oldSize < 0n || oldSize > newSize) throw new RangeError("merkle: the old tree must not be larger than the new tree");
  if (oldSize === 0n) return [];
  const { downward, start, end } = descendToLeaf(oldSize - 1n, newSize, read, hash, (_, last) => last === oldSize);
  // The leaves [start, oldSize) form a complete subtree of the old tree. If the subtree is the whole old tree, the verifier already knows
  // its root. Otherwise, the proof must contain the subtree's root.
  if (start > 0n) downward.push(computeRangeRoot(start, end, read, hash));
  return downward.reverse();
};
