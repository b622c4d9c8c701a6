// The tree of heads: one leaf a chain, saying how far it has come. Entries prove that something was written; only this
// proves that nothing was left out: the log holds, every quarter of an hour, the root over all heads, and a principal's own
// leaf in it says "exactly so many entries, ending in this hash". Unlike the log's tree its leaves change.
import { encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson } from "../canonical-json.ts";
import {
  computeEmptyRoot,
  buildInclusionProof,
  hashLeaf,
  hashNode,
  computeRoot,
  type HashFunction,
  type NodeReader,
} from "../ledger/merkle.ts";
import type { ChainHead } from "./chain.ts";

export const serializeHeadLeaf = (chain: string, head: ChainHead): string =>
  toCanonicalJson({ chain, head: head.hash, seq: head.seq.toString() });

export const hashHeadLeaf = (hash: HashFunction, chain: string, head: ChainHead): Uint8Array =>
  hashLeaf(hash, encodeUtf8(serializeHeadLeaf(chain, head)));

export interface HeadNode {
  readonly height: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/**
 * The nodes that change when the leaves in `changed` do, in a tree that now has `size` leaves: at most log2(size) a leaf.
 * Only perfect subtrees are kept; the rest is put together when it is read. New leaves are changed leaves.
 */
export const computeChangedHeadNodes = (
  hash: HashFunction,
  size: number,
  changed: ReadonlyMap<number, Uint8Array>,
  read: (height: number, index: number) => Uint8Array,
): HeadNode[] => {
  const nodes: HeadNode[] = [];
  let below = new Map(changed);
  for (let height = 0; below.size > 0; height += 1) {
    for (const [index, node] of below) nodes.push({ height, index, hash: node });
    const above = new Map<number, Uint8Array>();
    for (const index of below.keys()) {
      const parent = Math.floor(index / 2);
      if (above.has(parent) || (parent + 1) * 2 ** (height + 1) > size) continue; // not perfect yet
      const child = (at: number): Uint8Array => below.get(at) ?? read(height, at);
      above.set(parent, hashNode(hash, child(2 * parent), child(2 * parent + 1)));
    }
    below = above;
  }
  return nodes;
};

export const computeHeadsRoot = (hash: HashFunction, size: number, read: NodeReader): Uint8Array =>
  size === 0 ? computeEmptyRoot(hash) : computeRoot(hash, BigInt(size), read);

/** Sibling hashes from the chain's leaf up to the child of the root. */
export const computeHeadPath = (hash: HashFunction, chainIndex: number, size: number, read: NodeReader): Uint8Array[] =>
  buildInclusionProof(hash, BigInt(chainIndex), BigInt(size), read);

export interface HeadsRecord {
  readonly at: string;
  /** Hex. */
  readonly heads_root: string;
  readonly heads_size: string;
  /** Size of the log just before this record joined it. */
  readonly log_size: string;
  readonly schema: "svc-heads-v1";
}

export const serializeHeadsRecord = (record: HeadsRecord): string => toCanonicalJson({ ...record });

/** The log's entry for a record: 32 bytes, like the entries of chains. */
export const hashHeadsRecord = (hash: HashFunction, text: string): Uint8Array => hash(encodeUtf8(text));
