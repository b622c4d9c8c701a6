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

const leaves = Array.from({ length: 40 }, (_, at) => hashLeaf(sha256, encodeUtf8(`entry ${at}`)));
const read: NodeReader = (height, index) =>
  height === 0 ? (leaves[Number(index)] as Uint8Array) : hashNode(sha256, read(height - 1, 2n * index), read(height - 1, 2n * index + 1n));

/** The hashes of a tree whose leaves are all equal, by height. Equal leaves make it possible to compute a tree of 2^60 leaves. */
const alike = [hashLeaf(sha256, encodeUtf8("the same"))];
const readAlike: NodeReader = (height) => {
  for (let at = alike.length; at <= height; at += 1) {
    const below = alike[at - 1] as Uint8Array;
    alike.push(hashNode(sha256, below, below));
  }
  return alike[height] as Uint8Array;
};

describe("an inclusion proof", () => {
  const size = 37n;
  const index = 21n;
  const leaf = leaves[21] as Uint8Array;
  const root = computeRoot(sha256, size, read);
  const proof = buildInclusionProof(sha256, index, size, read);

  test("leads from the leaf to the root", () => {
    expect(computeRootFromInclusion(sha256, { leaf, index, size, proof })).toEqual(root);
  });

  test("is refused when it has one hash too few or too many (T5)", () => {
    expect(computeRootFromInclusion(sha256, { leaf, index, size, proof: proof.slice(1) })).toBeNull();
    expect(computeRootFromInclusion(sha256, { leaf, index, size, proof: proof.slice(0, -1) })).toBeNull();
    expect(computeRootFromInclusion(sha256, { leaf, index, size, proof: [...proof, root] })).toBeNull();
    expect(computeRootFromInclusion(sha256, { leaf, index, size, proof: [root, ...proof] })).toBeNull();
  });

  test("has the computed length for every index", () => {
    for (let total = 1n; total <= 40n; total += 1n) {
      for (let at = 0n; at < total; at += 1n) {
        expect(buildInclusionProof(sha256, at, total, read)).toHaveLength(getInclusionProofLength(at, total));
      }
    }
  });

  test("is refused for any other index, inside or outside the tree (T5)", () => {
    for (let other = -1n; other <= 40n; other += 1n) {
      if (other !== index) expect(computeRootFromInclusion(sha256, { leaf, index: other, size, proof })).not.toEqual(root);
    }
    expect(computeRootFromInclusion(sha256, { leaf, index: size, size, proof })).toBeNull();
    expect(computeRootFromInclusion(sha256, { leaf, index: -1n, size, proof })).toBeNull();
    expect(computeRootFromInclusion(sha256, { leaf, index: 0n, size: 0n, proof: [] })).toBeNull();
  });

  test("is refused when a node is presented as a leaf (T5)", () => {
    // A fake entry that consists of the hashes of two leaves. If leaves and nodes were hashed in the same way, the hash of this entry would
    // be a node of the tree.
    const fake = hashLeaf(sha256, concatBytes(leaves[20] as Uint8Array, leaves[21] as Uint8Array));
    expect(computeRootFromInclusion(sha256, { leaf: fake, index: 10n, size: 19n, proof: proof.slice(1) })).not.toEqual(root);
    expect(fake).not.toEqual(hashNode(sha256, leaves[20] as Uint8Array, leaves[21] as Uint8Array));
    // If the node is presented as a leaf of a tree with half as many leaves, the proof leads to the real root. Only the size in the
    // checkpoint shows that the claim is false.
    const node = hashNode(sha256, leaves[20] as Uint8Array, leaves[21] as Uint8Array);
    expect(computeRootFromInclusion(sha256, { leaf: node, index: 10n, size: 19n, proof: proof.slice(1) })).toEqual(root);
    expect(computeRootFromInclusion(sha256, { leaf: node, index: 10n, size, proof: proof.slice(1) })).toBeNull();
  });

  test("is refused when a hash has the wrong length", () => {
    expect(computeRootFromInclusion(sha256, { leaf: new Uint8Array(31), index, size, proof })).toBeNull();
    expect(computeRootFromInclusion(sha256, { leaf, index, size, proof: [...proof.slice(1), new Uint8Array(33)] })).toBeNull();
  });

  test("leads to a different root when any single bit changes", () => {
    fc.assert(
      fc.property(fc.nat(proof.length - 1), fc.nat(31), fc.nat(7), (at, byte, bit) => {
        const changed = proof.map((hash) => Uint8Array.from(hash));
        const hash = changed[at] as Uint8Array;
        hash[byte] = (hash[byte] as number) ^ (1 << bit);
        expect(computeRootFromInclusion(sha256, { leaf, index, size, proof: changed })).not.toEqual(root);
      }),
    );
  });

  test.each([1n << 53n, (1n << 53n) + 1n, (1n << 60n) + 12_345n, (1n << 63n) - 1n])("is exact in a tree of %s (T5)", (large) => {
    const largeRoot = computeRoot(sha256, large, readAlike);
    const only = alike[0] as Uint8Array;
    for (const at of [0n, 1n << 52n, (1n << 53n) - 1n, large - 2n, large - 1n]) {
      const path = buildInclusionProof(sha256, at, large, readAlike);
      expect(computeRootFromInclusion(sha256, { leaf: only, index: at, size: large, proof: path })).toEqual(largeRoot);
    }
    const rounded = BigInt(Number(large));
    if (rounded === large) return;
    const last = buildInclusionProof(sha256, large - 1n, large, readAlike);
    expect(computeRootFromInclusion(sha256, { leaf: only, index: large - 1n, size: rounded, proof: last })).not.toEqual(largeRoot);
  });

  test("is refused for a tree size of 2^63 or more", () => {
    const size64 = 1n << 63n;
    const path = buildInclusionProof(sha256, 0n, size64, readAlike);
    expect(computeRootFromInclusion(sha256, { leaf: alike[0] as Uint8Array, index: 0n, size: size64, proof: path })).toBeNull();
  });
});

describe("a consistency proof", () => {
  const older = { size: 21n, root: computeRoot(sha256, 21n, read) };
  const newer = { size: 37n, root: computeRoot(sha256, 37n, read) };
  const proof = buildConsistencyProof(sha256, 21n, 37n, read);

  test("verifies for its two trees only", () => {
    expect(isConsistent(sha256, older, newer, proof)).toBe(true);
    expect(isConsistent(sha256, { ...older, root: newer.root }, newer, proof)).toBe(false);
    expect(isConsistent(sha256, older, { ...newer, root: older.root }, proof)).toBe(false);
    expect(isConsistent(sha256, newer, older, proof)).toBe(false);
  });

  test("is refused when it has one hash too few or too many (T5)", () => {
    for (const wrong of [proof.slice(1), proof.slice(0, -1), [...proof, newer.root], [older.root, ...proof], []]) {
      expect(isConsistent(sha256, older, newer, wrong)).toBe(false);
    }
  });

  test("is refused when a size does not match its root", () => {
    const four = { size: 4n, root: computeRoot(sha256, 4n, read) };
    const rootOfEight = computeRoot(sha256, 8n, read);
    const path = buildConsistencyProof(sha256, 4n, 8n, read);
    expect(isConsistent(sha256, four, { size: 8n, root: rootOfEight }, path)).toBe(true);
    for (const size of [9n, 16n, 32n]) expect(isConsistent(sha256, four, { size, root: rootOfEight }, path)).toBe(false);
  });

  test("is empty for equal trees and for an empty older tree", () => {
    expect(isConsistent(sha256, newer, newer, [])).toBe(true);
    expect(isConsistent(sha256, newer, { ...newer, root: older.root }, [])).toBe(false);
    expect(isConsistent(sha256, newer, newer, [newer.root])).toBe(false);
    const empty = { size: 0n, root: computeEmptyRoot(sha256) };
    expect(isConsistent(sha256, empty, newer, [])).toBe(true);
    expect(isConsistent(sha256, empty, empty, [])).toBe(true);
    expect(isConsistent(sha256, empty, newer, [newer.root])).toBe(false);
    expect(isConsistent(sha256, { size: 0n, root: newer.root }, newer, [])).toBe(false);
  });

  test("is exact for sizes beyond 2^53", () => {
    const small = { size: (1n << 53n) + 1n, root: computeRoot(sha256, (1n << 53n) + 1n, readAlike) };
    const large = { size: (1n << 60n) + 5n, root: computeRoot(sha256, (1n << 60n) + 5n, readAlike) };
    const path = buildConsistencyProof(sha256, small.size, large.size, readAlike);
    expect(isConsistent(sha256, small, large, path)).toBe(true);
    expect(isConsistent(sha256, { ...small, size: 1n << 53n }, large, path)).toBe(false);
  });

  test("is refused when any single bit changes", () => {
    fc.assert(
      fc.property(fc.nat(proof.length - 1), fc.nat(31), fc.nat(7), (at, byte, bit) => {
        const changed = proof.map((hash) => Uint8Array.from(hash));
        const hash = changed[at] as Uint8Array;
        hash[byte] = (hash[byte] as number) ^ (1 << bit);
        expect(isConsistent(sha256, older, newer, changed)).toBe(false);
      }),
    );
  });

  test("throws when the old tree is larger, and an inclusion proof throws for an index outside the tree", () => {
    expect(() => buildConsistencyProof(sha256, 5n, 4n, read)).toThrow(RangeError);
    expect(() => buildInclusionProof(sha256, 4n, 4n, read)).toThrow(RangeError);
    expect(() => buildInclusionProof(sha256, -1n, 4n, read)).toThrow(RangeError);
  });
});

test("hashNode throws unless both arguments have 32 bytes", () => {
  const hash = sha256("leaf");
  expect(hashNode(sha256, hash, hash)).toEqual(sha256(Uint8Array.of(1, ...hash, ...hash)));
  for (const wrong of [new Uint8Array(0), hash.subarray(1), new Uint8Array(33)]) {
    expect(() => hashNode(sha256, wrong, hash)).toThrow(RangeError);
    expect(() => hashNode(sha256, hash, wrong)).toThrow(RangeError);
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
