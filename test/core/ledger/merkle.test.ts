// Tests Merkle proofs: wrong lengths, wrong indexes, leaves confused with nodes, and sizes beyond 2^53.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatBytes, encodeUtf8 } from "../../../core/bytes.ts";
import { sha256 } from "../../../core/hash.ts";
import {
  buildConsistencyProof,
  parseCount,
  computeEmptyRoot,
  getInclusionProofLength,
  buildInclusionProof,
  isConsistent,
  hashLeaf,
  hashNode,
  computeRootFromInclusion,
  computeRoot,
  type NodeReader,
} from "../../../core/ledger/merkle.ts";

const leaves = Array.from({ length: 40 }, (_, at) => hashLeaf(encodeUtf8(`entry ${at}`)));
const read: NodeReader = (height, index) =>
  height === 0 ? (leaves[Number(index)] as Uint8Array) : hashNode(read(height - 1, 2n * index), read(height - 1, 2n * index + 1n));

/** The hashes of a tree whose leaves are all equal, by height. Equal leaves make it possible to compute a tree of 2^60 leaves. */
const alike = [hashLeaf(encodeUtf8("the same"))];
const readAlike: NodeReader = (height) => {
  for (let at = alike.length; at <= height; at += 1) {
    const below = alike[at - 1] as Uint8Array;
    alike.push(hashNode(below, below));
  }
  return alike[height] as Uint8Array;
};

describe("an inclusion proof", () => {
  const size = 37n;
  const index = 21n;
  const leaf = leaves[21] as Uint8Array;
  const root = computeRoot(size, read);
  const proof = buildInclusionProof(index, size, read);

  test("leads from the leaf to the root", () => {
    expect(computeRootFromInclusion({ leaf, index, size, proof })).toEqual(root);
  });

  test("is refused when it has one hash too few or too many (T5)", () => {
    expect(computeRootFromInclusion({ leaf, index, size, proof: proof.slice(1) })).toBeNull();
    expect(computeRootFromInclusion({ leaf, index, size, proof: proof.slice(0, -1) })).toBeNull();
    expect(computeRootFromInclusion({ leaf, index, size, proof: [...proof, root] })).toBeNull();
    expect(computeRootFromInclusion({ leaf, index, size, proof: [root, ...proof] })).toBeNull();
  });

  test("has the computed length for every index", () => {
    for (let total = 1n; total <= 40n; total += 1n) {
      for (let at = 0n; at < total; at += 1n) {
        expect(buildInclusionProof(at, total, read)).toHaveLength(getInclusionProofLength(at, total));
      }
    }
  });

  test("is refused for any other index, inside or outside the tree (T5)", () => {
    for (let other = -1n; other <= 40n; other += 1n) {
      if (other !== index) expect(computeRootFromInclusion({ leaf, index: other, size, proof })).not.toEqual(root);
    }
    expect(computeRootFromInclusion({ leaf, index: size, size, proof })).toBeNull();
    expect(computeRootFromInclusion({ leaf, index: -1n, size, proof })).toBeNull();
    expect(computeRootFromInclusion({ leaf, index: 0n, size: 0n, proof: [] })).toBeNull();
  });

  test("is refused when a node is presented as a leaf (T5)", () => {
    // A fake entry that consists of the hashes of two leaves. If leaves and nodes were hashed in the same way, the hash of this entry would
    // be a node of the tree.
    const fake = hashLeaf(concatBytes(leaves[20] as Uint8Array, leaves[21] as Uint8Array));
    expect(computeRootFromInclusion({ leaf: fake, index: 10n, size: 19n, proof: proof.slice(1) })).not.toEqual(root);
    expect(fake).not.toEqual(hashNode(leaves[20] as Uint8Array, leaves[21] as Uint8Array));
    // If the node is presented as a leaf of a tree with half as many leaves, the proof leads to the real root. Only the size in the
    // checkpoint shows that the claim is false.
    const node = hashNode(leaves[20] as Uint8Array, leaves[21] as Uint8Array);
    expect(computeRootFromInclusion({ leaf: node, index: 10n, size: 19n, proof: proof.slice(1) })).toEqual(root);
    expect(computeRootFromInclusion({ leaf: node, index: 10n, size, proof: proof.slice(1) })).toBeNull();
  });

  test("is refused when a hash has the wrong length", () => {
    expect(computeRootFromInclusion({ leaf: new Uint8Array(31), index, size, proof })).toBeNull();
    expect(computeRootFromInclusion({ leaf, index, size, proof: [...proof.slice(1), new Uint8Array(33)] })).toBeNull();
  });

  test("leads to a different root when any single bit changes", () => {
    fc.assert(
      fc.property(fc.nat(proof.length - 1), fc.nat(31), fc.nat(7), (at, byte, bit) => {
        const changed = proof.map((hash) => Uint8Array.from(hash));
        const hash = changed[at] as Uint8Array;
        hash[byte] = (hash[byte] as number) ^ (1 << bit);
        expect(computeRootFromInclusion({ leaf, index, size, proof: changed })).not.toEqual(root);
      }),
    );
  });

  test.each([1n << 53n, (1n << 53n) + 1n, (1n << 60n) + 12_345n, (1n << 63n) - 1n])("is exact in a tree of %s (T5)", (large) => {
    const largeRoot = computeRoot(large, readAlike);
    const only = alike[0] as Uint8Array;
    for (const at of [0n, 1n << 52n, (1n << 53n) - 1n, large - 2n, large - 1n]) {
      const path = buildInclusionProof(at, large, readAlike);
      expect(computeRootFromInclusion({ leaf: only, index: at, size: large, proof: path })).toEqual(largeRoot);
    }
    const rounded = BigInt(Number(large));
    if (rounded === large) return;
    const last = buildInclusionProof(large - 1n, large, readAlike);
    expect(computeRootFromInclusion({ leaf: only, index: large - 1n, size: rounded, proof: last })).not.toEqual(largeRoot);
  });

  test("is refused for a tree size of 2^63 or more", () => {
    const size64 = 1n << 63n;
    const path = buildInclusionProof(0n, size64, readAlike);
    expect(computeRootFromInclusion({ leaf: alike[0] as Uint8Array, index: 0n, size: size64, proof: path })).toBeNull();
  });
});

describe("a consistency proof", () => {
  const older = { size: 21n, root: computeRoot(21n, read) };
  const newer = { size: 37n, root: computeRoot(37n, read) };
  const proof = buildConsistencyProof(21n, 37n, read);

  test("verifies for its two trees only", () => {
    expect(isConsistent(older, newer, proof)).toBe(true);
    expect(isConsistent({ ...older, root: newer.root }, newer, proof)).toBe(false);
    expect(isConsistent(older, { ...newer, root: older.root }, proof)).toBe(false);
    expect(isConsistent(newer, older, proof)).toBe(false);
  });

  test("is refused when it has one hash too few or too many (T5)", () => {
    for (const wrong of [proof.slice(1), proof.slice(0, -1), [...proof, newer.root], [older.root, ...proof], []]) {
      expect(isConsistent(older, newer, wrong)).toBe(false);
    }
  });

  test("is refused when a size does not match its root", () => {
    const four = { size: 4n, root: computeRoot(4n, read) };
    const rootOfEight = computeRoot(8n, read);
    const path = buildConsistencyProof(4n, 8n, read);
    expect(isConsistent(four, { size: 8n, root: rootOfEight }, path)).toBe(true);
    for (const size of [9n, 16n, 32n]) expect(isConsistent(four, { size, root: rootOfEight }, path)).toBe(false);
  });

  test("is empty for equal trees and for an empty older tree", () => {
    expect(isConsistent(newer, newer, [])).toBe(true);
    expect(isConsistent(newer, { ...newer, root: older.root }, [])).toBe(false);
    expect(isConsistent(newer, newer, [newer.root])).toBe(false);
    const empty = { size: 0n, root: computeEmptyRoot() };
    expect(isConsistent(empty, newer, [])).toBe(true);
    expect(isConsistent(empty, empty, [])).toBe(true);
    expect(isConsistent(empty, newer, [newer.root])).toBe(false);
    expect(isConsistent({ size: 0n, root: newer.root }, newer, [])).toBe(false);
  });

  test("is exact for sizes beyond 2^53", () => {
    const small = { size: (1n << 53n) + 1n, root: computeRoot((1n << 53n) + 1n, readAlike) };
    const large = { size: (1n << 60n) + 5n, root: computeRoot((1n << 60n) + 5n, readAlike) };
    const path = buildConsistencyProof(small.size, large.size, readAlike);
    expect(isConsistent(small, large, path)).toBe(true);
    expect(isConsistent({ ...small, size: 1n << 53n }, large, path)).toBe(false);
  });

  test("is refused when any single bit changes", () => {
    fc.assert(
      fc.property(fc.nat(proof.length - 1), fc.nat(31), fc.nat(7), (at, byte, bit) => {
        const changed = proof.map((hash) => Uint8Array.from(hash));
        const hash = changed[at] as Uint8Array;
        hash[byte] = (hash[byte] as number) ^ (1 << bit);
        expect(isConsistent(older, newer, changed)).toBe(false);
      }),
    );
  });

  test("throws when the old tree is larger, and an inclusion proof throws for an index outside the tree", () => {
    expect(() => buildConsistencyProof(5n, 4n, read)).toThrow(RangeError);
    expect(() => buildInclusionProof(4n, 4n, read)).toThrow(RangeError);
    expect(() => buildInclusionProof(-1n, 4n, read)).toThrow(RangeError);
  });
});

test("hashNode throws unless both arguments have 32 bytes", () => {
  const hash = sha256("leaf");
  expect(hashNode(hash, hash)).toEqual(sha256(Uint8Array.of(1, ...hash, ...hash)));
  for (const wrong of [new Uint8Array(0), hash.subarray(1), new Uint8Array(33)]) {
    expect(() => hashNode(wrong, hash)).toThrow(RangeError);
    expect(() => hashNode(hash, wrong)).toThrow(RangeError);
  }
});

test.each(["", "00", "01", "-1", "+1", "1.0", "1e3", " 1", "1 ", "0x1", "٣", "9223372036854775808", "99999999999999999999"])(
  "%j is not a count",
  (text) => {
    expect(parseCount(text)).toBeNull();
  },
);

test("parseCount is exact up to 2^63 - 1", () => {
  expect(parseCount("0")).toBe(0n);
  expect(parseCount("9007199254740993")).toBe(9_007_199_254_740_993n);
  expect(parseCount("9223372036854775807")).toBe((1n << 63n) - 1n);
});
