// Tests the tree of heads: incremental updates give the same tree as a full computation, and its proofs lead to its root.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  computeChangedHeadNodes,
  hashHeadLeaf,
  serializeHeadLeaf,
  computeHeadPath,
  hashHeadsRecord,
  serializeHeadsRecord,
  computeHeadsRoot,
} from "../../../core/audit/heads.ts";
import { toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { sha256 } from "../../../core/hash.ts";
import { computeRootFromInclusion } from "../../../core/ledger/merkle.ts";
import { computeNaiveLeaf, computeNaiveRoot } from "../../support/naive-log.ts";

const formatChainName = (index: number): string => index.toString(16).padStart(32, "0");
const createHead = (index: number, seq: number) => ({ seq: BigInt(seq), hash: toHex(sha256(`${index} ${seq}`)) });

/** A tree of heads in memory. Each update computes only the nodes that change. */
class MemoryHeads {
  readonly nodes = new Map<string, Uint8Array>();
  size = 0;
  written = 0;

  readonly read = (height: number, index: number | bigint): Uint8Array => {
    const node = this.nodes.get(`${height}/${index}`);
    if (node === undefined) throw new Error(`no node ${height}/${index}`);
    return node;
  };

  set(changes: ReadonlyMap<number, Uint8Array>): void {
    this.size = Math.max(this.size, ...[...changes.keys()].map((index) => index + 1));
    for (const { height, index, hash } of computeChangedHeadNodes(this.size, changes, this.read)) {
      this.nodes.set(`${height}/${index}`, hash);
      this.written += 1;
    }
  }
}

describe("the tree of heads", () => {
  test("equals a fully computed tree after 5,000 random updates", () => {
    const tree = new MemoryHeads();
    const seqs: number[] = [];
    let state = 12_345;
    const drawBelow = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0; // a fixed sequence, so that a failure can be reproduced
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let update = 0; update < 5_000; update += 1) {
      const index = drawBelow(10) === 0 || seqs.length === 0 ? seqs.length : drawBelow(seqs.length);
      seqs[index] = (seqs[index] ?? 0) + 1;
      tree.set(new Map([[index, hashHeadLeaf(formatChainName(index), createHead(index, seqs[index]))]]));
    }
    const leaves = seqs.map((seq, index) =>
      computeNaiveLeaf(encodeUtf8(serializeHeadLeaf(formatChainName(index), createHead(index, seq)))),
    );
    expect(seqs.length).toBeGreaterThan(400);
    expect(toHex(computeHeadsRoot(seqs.length, tree.read))).toBe(toHex(computeNaiveRoot(leaves)));
    expect(tree.written).toBeLessThan(5_000 * (Math.log2(seqs.length) + 1));
    for (const index of [0, 1, 17, seqs.length - 2, seqs.length - 1]) {
      const proof = computeHeadPath(index, seqs.length, tree.read);
      const claim = { leaf: leaves[index] as Uint8Array, index: BigInt(index), size: BigInt(seqs.length), proof };
      expect(toHex(computeRootFromInclusion(claim) ?? new Uint8Array(0))).toBe(toHex(computeNaiveRoot(leaves)));
    }
  });

  test("equals a fully computed tree after any batches of changes", () => {
    const batches = fc.array(fc.array(fc.tuple(fc.nat(70), fc.nat(1_000)), { minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(batches, (all) => {
        const tree = new MemoryHeads();
        const current: Uint8Array[] = [];
        for (const batch of all) {
          const changes = new Map<number, Uint8Array>();
          for (const [wanted, seq] of batch) {
            const index = Math.min(wanted, current.length); // a new index must follow the highest existing one
            const leaf = hashHeadLeaf(formatChainName(index), createHead(index, seq));
            current[index] = leaf;
            changes.set(index, leaf);
          }
          tree.set(changes);
          expect(toHex(computeHeadsRoot(current.length, tree.read))).toBe(toHex(computeNaiveRoot(current)));
        }
      }),
    );
  });

  test("has the root of the empty tree when there are no chains", () => {
    expect(toHex(computeHeadsRoot(0, () => new Uint8Array(0)))).toBe(toHex(sha256("")));
  });

  test("serializes the length and head of a chain in one spelling", () => {
    const head = { seq: 3n, hash: "8981c90b4ab205e7da49565b430fe0049d71929ee33bb58327400a67b7e29c60" };
    expect(serializeHeadLeaf("00112233445566778899aabbccddeeff", head)).toBe(
      '{"chain":"00112233445566778899aabbccddeeff","head":"8981c90b4ab205e7da49565b430fe0049d71929ee33bb58327400a67b7e29c60","seq":"3"}',
    );
  });

  test("is recorded in the log as the hash of a canonical record", () => {
    const text = serializeHeadsRecord({
      at: "2026-03-04T05:15:00.000Z",
      heads_root: "00".repeat(32),
      heads_size: "42",
      log_size: "1000",
      schema: "svc-heads-v1",
    });
    expect(text).toBe(
      `{"at":"2026-03-04T05:15:00.000Z","heads_root":"${"00".repeat(32)}","heads_size":"42","log_size":"1000","schema":"svc-heads-v1"}`,
    );
    expect(toHex(hashHeadsRecord(text))).toBe(toHex(sha256(text)));
  });
});
