// Tests that packed receipts are restored byte for byte, and that a batch contains each node of its proofs only once.
import { describe, expect, test } from "vitest";
import { encodeUtf8, fromBase64 } from "../../../core/bytes.ts";
import { formatCheckpoint } from "../../../core/ledger/checkpoint.ts";
import { hashLeaf, type TreeHead } from "../../../core/ledger/merkle.ts";
import { formatVkey, signNote } from "../../../core/ledger/note.ts";
import { buildReceipt, formatReceipt, verifyReceipt, type Receipt } from "../../../core/ledger/receipt.ts";
import { packReceipts, unpackReceipt, type NumberedReceipt } from "../../../core/ledger/receipt-batch.ts";
import {
  buildInclusionProofFromTiles,
  computeRootFromTiles,
  computeTilesAfterAppend,
  type TileReader,
} from "../../../core/ledger/tiles.ts";
import { noteCrypto, openNoteSigner } from "../../../storage/note-keys.ts";
import { createSecret } from "../../support/note-keys.ts";

const origin = "ledger.example/ledger/2026h2";
const signer = await openNoteSigner(await createSecret(origin, 21));
const context = { trustedKeys: [{ origin, vkey: formatVkey(signer.key), validFrom: "2026-01-01T00:00:00.000Z" }] };
const largest = 300;
const buildStatement = (index: number): string => `statement ${index}`;

const tiles = computeTilesAfterAppend(
  0n,
  Array.from({ length: largest }, (_, index) => hashLeaf(encodeUtf8(buildStatement(index)))),
  () => new Uint8Array(0),
);
const read: TileReader = (level, n, width) =>
  tiles.find((tile) => tile.level === level && tile.n === n)?.data.subarray(0, width * 32) ?? new Uint8Array(0);
const createHead = (size: number): TreeHead => ({ size: BigInt(size), root: computeRootFromTiles(BigInt(size), read) });

const createReceipts = async (size: number, indexes: readonly number[], leaf?: Uint8Array): Promise<NumberedReceipt[]> => {
  const checkpoint = createHead(size);
  const note = await signNote(formatCheckpoint({ origin, ...checkpoint }), [signer]);
  return indexes.map((index, at) => ({
    ord: 1_000 + 3 * at,
    receipt: buildReceipt(buildStatement(index), {
      kind: leaf === undefined ? "tlog" : "rekor2",
      origin,
      index: BigInt(index),
      ...(leaf !== undefined && { leaf }),
      hashes: buildInclusionProofFromTiles(BigInt(index), checkpoint.size, read),
      note,
      checkpoint,
      submittedAt: Date.UTC(2026, 2, 4, 5, 6, 9, 1),
      verifiedAt: Date.UTC(2026, 2, 4, 5, 6, 9, 412),
    }),
  }));
};

const unpackAll = (numbered: readonly NumberedReceipt[], indexes: readonly number[]): (Receipt | null)[] => {
  const packed = packReceipts(numbered);
  return numbered.map(({ ord }, at) => {
    const found = packed.find(({ ords }) => ords.includes(ord));
    return found === undefined ? null : unpackReceipt(found.batch, ord, buildStatement(indexes[at] as number));
  });
};

const listRange = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at);

describe("packed receipts", () => {
  test.each([
    ["one statement", 1, [0]],
    ["the last of a tree", 300, [299]],
    ["64 in a row", 300, listRange(100, 64)],
    ["64 at the end of a ragged tree", 299, listRange(235, 64)],
    ["a whole tree", 64, listRange(0, 64)],
    ["more than one batch", 300, listRange(0, 300)],
    ["some that the ledger had before", 300, [5, 290, 6, 291, 200, 292]],
    ["the same entry twice", 300, [7, 7]],
  ])("are restored byte for byte: %s", async (_, size, indexes) => {
    const numbered = await createReceipts(size, indexes);
    const unpacked = unpackAll(numbered, indexes);
    expect(unpacked.map((receipt) => receipt && formatReceipt(receipt))).toEqual(numbered.map(({ receipt }) => formatReceipt(receipt)));
    for (const [at, receipt] of unpacked.entries()) {
      const statement = encodeUtf8(buildStatement(indexes[at] as number));
      expect(receipt && (await verifyReceipt(noteCrypto, receipt, statement, context)).ok).toBe(true);
    }
  });

  test("are restored byte for byte for every pair of statements in every small tree", async () => {
    for (let size = 2; size <= 17; size += 1)
      for (let first = 0; first < size; first += 1)
        for (let second = 0; second < size; second += 1) {
          const numbered = await createReceipts(size, [first, second]);
          expect(unpackAll(numbered, [first, second])).toEqual(numbered.map(({ receipt }) => receipt));
        }
  });

  test("are restored byte for byte when the ledger wraps statements", async () => {
    const numbered = await createReceipts(300, [4, 9], encodeUtf8('{"wrapped":true}'));
    expect(unpackAll(numbered, [4, 9])).toEqual(numbered.map(({ receipt }) => receipt));
  });

  test("of different checkpoints are in different batches", async () => {
    const [older, newer] = [await createReceipts(100, [3]), await createReceipts(300, [4])];
    const numbered = [...older, ...newer].map(({ receipt }, ord) => ({ ord, receipt }));
    expect(packReceipts(numbered).map(({ ords }) => ords)).toEqual([[0], [1]]);
  });

  test("share their nodes: 64 statements in a row take two hashes each and one path", async () => {
    const [packed, ...others] = packReceipts(await createReceipts(256, listRange(64, 64)));
    expect(others).toEqual([]);
    // The path from the 64-leaf subtree to the root of the 256-leaf tree has two hashes.
    expect(fromBase64(packed?.batch.nodes ?? "")?.length).toBe(32 * (2 * 64 - 2 + 2));
  });

  test("are null for a statement that is not in the batch", async () => {
    const [packed] = packReceipts(await createReceipts(300, [4, 9]));
    expect(packed && unpackReceipt(packed.batch, 1_001, buildStatement(4))).toBeNull();
  });
});
