// The tree of heads, which proves that no entry was left out. It has one leaf per chain, with the chain's current length and head hash. The
// log records the root of this tree every 15 minutes if it has changed, or earlier for a new chain. Unlike the leaves of the log's own
// tree, these leaves change.
import { encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256 } from "../hash.ts";
import { computeEmptyRoot, buildInclusionProof, hashLeaf, hashNode, computeRoot, type NodeReader } from "../ledger/merkle.ts";
import type { ChainHead } from "./chain.ts";

/** Returns the exact text that is hashed for a chain's leaf. */
export const serializeHeadLeaf = (chain: string, head: ChainHead): string =>
  toCanonicalJson({ chain, head: head.hash, seq: head.seq.toString() });

export const hashHeadLeaf = (chain: string, head: ChainHead): Uint8Array => hashLeaf(encodeUtf8(serializeHeadLeaf(chain, head)));

export interface HeadNode {
  readonly height: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/**
 * Returns the nodes to store after the leaves in `changed` were changed or added. `size` is the number of leaves after the change. Each
 * changed leaf affects at most log2(size) nodes above it. Only perfect subtrees are stored; other nodes are computed when they are read.
 */
export const computeChangedHeadNodes = (
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
      if (above.has(parent) || (parent + 1) * 2 ** (height + 1) > size) continue; // a parent is stored only once its subtree is perfect
      const child = (at: number): Uint8Array => below.get(at) ?? read(height, at);
      above.set(parent, hashNode(child(2 * parent), child(2 * parent + 1)));
    }
    below = above;
  }
  return nodes;
};

/** Returns the root over all heads, or the empty tree's root if there are none. */
export const computeHeadsRoot = (size: number, read: NodeReader): Uint8Array =>
  size === 0 ? computeEmptyRoot() : computeRoot(BigInt(size), read);

/** Returns the audit path from the chain's leaf to the heads root: the sibling hashes, lowest first. */
export const computeHeadPath = (chainIndex: number, size: number, read: NodeReader): Uint8Array[] =>
  buildInclusionProof(BigInt(chainIndex), BigInt(size), read);

export interface HeadsRecord {
  readonly at: string;
  /** The root over all heads, as hex. */
  readonly heads_root: string;
  readonly heads_size: string;
  /** The size of the log just before this record was appended. */
  readonly log_size: string;
  readonly schema: "svc-heads-v1";
}

/** Returns the exact text that is hashed for a record of heads. */
export const serializeHeadsRecord = (record: HeadsRecord): string => toCanonicalJson({ ...record });

/** Returns the log entry for a record of heads. It is 32 bytes long, like the log entry for an audit entry. */
export const hashHeadsRecord = (text: string): Uint8Array => sha256(text);
