// Tests tiles, roots and proofs against an independent builder, at every small size and around every boundary.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areBytesEqual, encodeUtf8 } from "../../../core/bytes.ts";
import {
  buildConsistencyProof,
  buildInclusionProof,
  isConsistent,
  hashLeaf,
  hashNode,
  computeRootFromInclusion,
  type NodeHash,
  type TreeHead,
} from "../../../core/ledger/merkle.ts";
import {
  buildConsistencyProofFromTiles,
  parseEntryBundle,
  encodeEntryBundle,
  buildInclusionProofFromTiles,
  createTileNodeReader,
  parseTilePath,
  computeRootFromTiles,
  formatTilePath,
  computeTilesAfterAppend,
  listTilesRead,
  type TileReader,
} from "../../../core/ledger/tiles.ts";
import {
  computeNaiveConsistency,
  computeNaiveInclusion,
  computeNaiveLeaf,
  createNaiveRoots,
  buildNaiveTiles,
} from "../../support/naive-log.ts";

// Uses Node's built-in function for speed: this file formats megabytes of hex.
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const createEntries = (count: number): Uint8Array[] => Array.from({ length: count }, (_, at) => encodeUtf8(`entry ${at}`));

/** A log in memory, with its tiles by level and number. It grows in batches of given lengths. */
class MemoryLog {
  readonly tiles = new Map<string, Uint8Array>();
  size = 0n;
  writes = 0;

  readonly read: TileReader = (level, n, width) => {
    const tile = this.tiles.get(`${level}/${n}`) ?? new Uint8Array(0);
    if (tile.length < width * 32) throw new Error(`no tile ${level}/${n} of width ${width}`);
    return tile.subarray(0, width * 32);
  };

  append(leaves: readonly Uint8Array[]): void {
    for (const { level, n, data } of computeTilesAfterAppend(this.size, leaves, this.read)) {
      this.tiles.set(`${level}/${n}`, data);
      this.writes += 1;
    }
    this.size += BigInt(leaves.length);
  }

  /** Returns another log with the same entries, which can then grow differently. */
  copy(): MemoryLog {
    const log = new MemoryLog();
    for (const [place, data] of this.tiles) log.tiles.set(place, data);
    log.size = this.size;
    return log;
  }

  /** Returns the tiles by path, as the log would serve them now. */
  published(): Map<string, string> {
    return new Map(
      [...this.tiles].map(([key, data]) => {
        const [level, n] = key.split("/");
        return [formatTilePath({ level: Number(level), n: BigInt(n ?? ""), width: data.length / 32 }), hexOf(data)];
      }),
    );
  }
}

const hexMap = (tiles: ReadonlyMap<string, Uint8Array>): Map<string, string> =>
  new Map([...tiles].map(([path, data]) => [path, hexOf(data)]));

const sortEntries = (map: ReadonlyMap<string, string>): [string, string][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const pairStep = BigInt(process.env.PAIR_STEP ?? "61");

const edges = [255, 256, 257, 65_535, 65_536, 65_537];
const many = createEntries(65_537).map(computeNaiveLeaf);
const rootOfMany = createNaiveRoots(many);

/** Returns a `hashNode` that remembers every hash, because thousands of proofs from one tree hash the same few nodes. */
const createMemoizedHash = (): NodeHash => {
  const hashes = new Map<string, Uint8Array>();
  return (left, right) => {
    const question = Buffer.concat([left, right]).toString("latin1");
    const hash = hashes.get(question) ?? hashNode(left, right);
    hashes.set(question, hash);
    return hash;
  };
};

describe("tiles", () => {
  test("match the definition byte for byte at every size up to 300 (L1)", () => {
    const leaves = createEntries(300).map((entry) => hashLeaf(entry));
    const rootOf = createNaiveRoots(leaves);
    const log = new MemoryLog();
    for (let size = 1; size <= 300; size += 1) {
      log.append(leaves.slice(size - 1, size));
      expect(sortEntries(log.published())).toEqual(sortEntries(hexMap(buildNaiveTiles(leaves, size, rootOf))));
    }
  });

  test("and roots match the definition byte for byte around 256 and 65,536 (L1)", () => {
    const grown = new MemoryLog(); // grows in batches of 500; a copy gets the remaining entries
    for (const size of edges) {
      for (let at = Number(grown.size); at + 500 <= size; at += 500) grown.append(many.slice(at, at + 500));
      const log = grown.copy();
      log.append(many.slice(Number(log.size), size));
      expect(sortEntries(log.published())).toEqual(sortEntries(hexMap(buildNaiveTiles(many, size, rootOfMany))));
      expect(hexOf(computeRootFromTiles(log.size, log.read))).toBe(hexOf(rootOfMany(0, size)));
    }
  });

  test("of 70,000 entries match the example in the format", () => {
    const log = new MemoryLog();
    const leaves = createEntries(70_000).map((entry) => hashLeaf(entry));
    for (let at = 0; at < leaves.length; at += 10_000) log.append(leaves.slice(at, at + 10_000));
    const paths = [...log.published().keys()];
    expect(paths.filter((path) => /^tile\/0\/[x0-9/]+$/.test(path))).toHaveLength(273);
    expect(paths.filter((path) => !/^tile\/0\/[x0-9/]+$/.test(path)).sort()).toEqual([
      "tile/0/273.p/112",
      "tile/1/000",
      "tile/1/001.p/17",
      "tile/2/000.p/1",
    ]);
  });

  test("do not depend on batching, and each is written once per batch", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 6 }), (batches) => {
        const total = batches.reduce((sum, count) => sum + count, 0);
        const leaves = createEntries(total).map((entry) => hashLeaf(entry));
        const inBatches = new MemoryLog();
        let at = 0;
        for (const count of batches) {
          const before = inBatches.writes;
          inBatches.append(leaves.slice(at, at + count));
          const touched = Math.floor((at + count - 1) / 256) - Math.floor(at / 256) + 1;
          expect(inBatches.writes - before).toBeLessThanOrEqual(touched + 1); // adds one for the only level-1 tile, which covers up to 65,536 entries
          at += count;
        }
        const atOnce = new MemoryLog();
        atOnce.append(leaves);
        expect(sortEntries(inBatches.published())).toEqual(sortEntries(atOnce.published()));
      }),
      { numRuns: 40 },
    );
  });

  test("throw when the edge tile does not match the tree size", () => {
    const leaf = hashLeaf(encodeUtf8("leaf"));
    expect(() => computeTilesAfterAppend(3n, [leaf], () => new Uint8Array(2 * 32))).toThrow(/edge/);
    expect(() => computeTilesAfterAppend(3n, [leaf], () => new Uint8Array(4 * 32))).toThrow(/edge/);
  });
});

describe("proofs from tiles", () => {
  const leaves = createEntries(300).map((entry) => hashLeaf(entry));
  const rootOf = createNaiveRoots(leaves);
  const roots = Array.from({ length: 301 }, (_, size) => rootOf(0, size));
  // This tree of 300 entries also provides the tiles of every smaller tree: a partial tile of a smaller tree is the beginning of the tile
  // at the same place in this tree.
  const log = new MemoryLog();
  log.append(leaves);
  const once = createMemoizedHash();
  // Uses one reader for all proofs, because thousands of proofs read the same few nodes.
  const nodes = createTileNodeReader(300n, log.read);

  test("hash each node once per reader", () => {
    const reader = createTileNodeReader(256n, log.read);
    const inner = new Set<Uint8Array>(); // compares objects: hashing a node again would create another array
    for (let index = 0n; index < 256n; index += 1n) for (const node of buildInclusionProof(index, 256n, reader).slice(1)) inner.add(node);
    expect(inner.size).toBe(254); // every inner node except the root, which no proof contains
  });

  test("connect any two of the sizes 0 to 300, and no root passes for another size (L1)", () => {
    let pairs = 0;
    for (let newSize = 0; newSize <= 300; newSize += 1) {
      const newer = { size: BigInt(newSize), root: roots[newSize] as Uint8Array };
      for (let oldSize = 0; oldSize <= newSize; oldSize += 1) {
        const older = { size: BigInt(oldSize), root: roots[oldSize] as Uint8Array };
        const proof = buildConsistencyProof(older.size, newer.size, nodes, once);
        const wrong = { size: older.size, root: roots[(oldSize + 1) % 301] as Uint8Array };
        if (!isConsistent(older, newer, proof, once)) throw new Error(`${oldSize} and ${newSize} are not consistent`);
        if (isConsistent(wrong, newer, proof, once)) throw new Error(`${oldSize} and ${newSize} are consistent with a wrong root`);
        pairs += 1;
      }
    }
    expect(pairs).toBe((301 * 302) / 2);
  });

  test("include every entry at every size up to 300", () => {
    for (let size = 1; size <= 300; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const proof = buildInclusionProof(BigInt(index), BigInt(size), nodes, once);
        const root = computeRootFromInclusion({ leaf: leaves[index] as Uint8Array, index: BigInt(index), size: BigInt(size), proof }, once);
        if (root === null || !areBytesEqual(roots[size] as Uint8Array, root))
          throw new Error(`entry ${index} is not in the tree of ${size}`);
      }
    }
  });

  test("match the definition hash for hash", () => {
    for (const size of [1, 2, 3, 7, 8, 70, 255, 256, 257, 300]) {
      for (const part of [0, 0.3, 0.5, 0.9, 1]) {
        const index = Math.min(size - 1, Math.floor(size * part));
        const tree = leaves.slice(0, size);
        const inclusion = buildInclusionProofFromTiles(BigInt(index), BigInt(size), log.read);
        expect(inclusion.map(hexOf)).toEqual(computeNaiveInclusion(index, tree).map(hexOf));
        const consistency = buildConsistencyProofFromTiles(BigInt(index + 1), BigInt(size), log.read);
        expect(consistency.map(hexOf)).toEqual(computeNaiveConsistency(index + 1, tree).map(hexOf));
      }
    }
  });

  // `npm run stress` checks all 846,951 pairs of sizes. This test checks one pair in 61 and covers every size.
  test("connect any two of the sizes 0 to 1,300 (L1)", { timeout: 300_000 }, () => {
    const all = createEntries(1_300).map((entry) => hashLeaf(entry));
    const grown = new MemoryLog();
    grown.append(all);
    const read = createTileNodeReader(1_300n, grown.read);
    const rootOfAll = createNaiveRoots(all);
    const heads = Array.from({ length: 1_301 }, (_, size): TreeHead => ({ size: BigInt(size), root: rootOfAll(0, size) }));
    const connected = new Set<bigint>();
    let pairs = 0;
    let passedOver = 0;
    for (const newer of heads) {
      for (const older of heads.slice(0, Number(newer.size) + 1)) {
        if ((newer.size + older.size) % pairStep !== 0n) {
          passedOver += 1;
          continue;
        }
        const proof = buildConsistencyProof(older.size, newer.size, read, once);
        if (!isConsistent(older, newer, proof, once)) throw new Error(`${older.size} and ${newer.size} are not consistent`);
        connected.add(older.size).add(newer.size);
        pairs += 1;
      }
    }
    expect(pairs + passedOver).toBe((1_301 * 1_302) / 2);
    expect(connected.size).toBe(1_301);
  });

  test("connect all sizes around 256 and 65,536 with each other (L1)", () => {
    const big = new MemoryLog();
    for (let at = 0; at < many.length; at += 4_096) big.append(many.slice(at, at + 4_096));
    const sizes = [1, 2, 3, 254, ...edges];
    const heads = sizes.map((size) => ({ size: BigInt(size), root: computeRootFromTiles(BigInt(size), big.read) }));
    for (const older of heads) {
      expect(hexOf(older.root)).toBe(hexOf(rootOfMany(0, Number(older.size))));
      for (const newer of heads.filter(({ size }) => size >= older.size)) {
        const proof = buildConsistencyProofFromTiles(older.size, newer.size, big.read);
        expect(isConsistent(older, newer, proof)).toBe(true);
      }
      for (const index of [0n, older.size / 2n, older.size - 1n]) {
        const proof = buildInclusionProofFromTiles(index, older.size, big.read);
        const root = computeRootFromInclusion({ leaf: many[Number(index)] as Uint8Array, index, size: older.size, proof });
        expect(root === null ? null : hexOf(root)).toBe(hexOf(older.root));
      }
    }
  });

  test("need only the tiles that the dry run lists", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(299), (size, at) => {
        const index = BigInt(at % size);
        const named = listTilesRead(BigInt(size), (nodes) => buildInclusionProof(index, BigInt(size), nodes)).map(formatTilePath);
        const fetched = new Set(named);
        const proof = buildInclusionProofFromTiles(index, BigInt(size), (level, n, width) => {
          if (!fetched.has(formatTilePath({ level, n, width }))) throw new Error("read a tile that was not named");
          return log.read(level, n, width);
        });
        const leaf = leaves[Number(index)] as Uint8Array;
        expect(computeRootFromInclusion({ leaf, index, size: BigInt(size), proof })).toEqual(roots[size]);
      }),
    );
  });
});

describe("entries of one tile", () => {
  test("need the same tiles for their proofs", () => {
    const listTilePaths = (index: number, size: number): string[] =>
      listTilesRead(BigInt(size), (nodes) => buildInclusionProof(BigInt(index), BigInt(size), nodes))
        .map(formatTilePath)
        .sort();
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 200_000 }), fc.nat(199_999), fc.nat(255), (size, at, neighbour) => {
        const first = Math.floor((at % size) / 256) * 256;
        const last = Math.min(first + 255, size - 1);
        expect(listTilePaths(first + (neighbour % (last - first + 1)), size)).toEqual(listTilePaths(last, size));
      }),
    );
  });
});

describe("the path of a tile", () => {
  test("matches the example in the format", () => {
    expect(formatTilePath({ level: 0, n: 1_234_067n, width: 256 })).toBe("tile/0/x001/x234/067");
    expect(formatTilePath({ level: 3, n: 5n, width: 7 })).toBe("tile/3/005.p/7");
    expect(formatTilePath({ level: "entries", n: 1_000n, width: 255 })).toBe("tile/entries/x001/000.p/255");
  });

  test("round-trips", () => {
    const place = fc.record({
      level: fc.oneof(fc.integer({ min: 0, max: 63 }), fc.constant("entries" as const)),
      n: fc.bigInt({ min: 0n, max: (1n << 55n) - 1n }),
      width: fc.integer({ min: 1, max: 256 }),
    });
    fc.assert(
      fc.property(place, (one) => {
        expect(parseTilePath(formatTilePath(one))).toEqual(one);
      }),
    );
  });

  test.each([
    "tile/0/1",
    "tile/0/0001",
    "tile/00/001",
    "tile/64/001",
    "tile/0/x000/001",
    "tile/0/001.p/0",
    "tile/0/001.p/256",
    "tile/0/001.p/09",
    "tile/0/001.p/",
    "tile/0/x001",
    "tile/0/001/002",
    "/tile/0/001",
    "tile/0/001/",
    "tile/x/001",
    "tile/0/x999/x999/x999/x999/x999/x999/999",
  ])("is refused in the form %s", (path) => {
    expect(parseTilePath(path)).toBeNull();
  });
});

describe("an entry bundle", () => {
  test("round-trips", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (some) => {
        expect(parseEntryBundle(encodeEntryBundle(some))?.map(hexOf)).toEqual(some.map(hexOf));
      }),
    );
    const longest = new Uint8Array(65_535).fill(7);
    expect(parseEntryBundle(encodeEntryBundle([longest]))?.map(hexOf)).toEqual([hexOf(longest)]);
    expect(() => encodeEntryBundle([new Uint8Array(65_536)])).toThrow(RangeError);
  });

  test("is refused when it ends inside an entry or a length", () => {
    const bundle = encodeEntryBundle([encodeUtf8("one"), encodeUtf8("two")]);
    for (let length = 1; length < bundle.length; length += 1) {
      expect(parseEntryBundle(bundle.subarray(0, length)) === null).toBe(length !== 5);
    }
  });
});
