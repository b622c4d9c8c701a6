// Tests valid receipts, and the fault that each defect causes, in the order of the checks.
import { describe, expect, test } from "vitest";
import { toBase64, toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { sha256 } from "../../../core/hash.ts";
import { formatCheckpoint } from "../../../core/ledger/checkpoint.ts";
import { hashLeaf, type TreeHead } from "../../../core/ledger/merkle.ts";
import { signNote, formatVkey, type NoteSigner } from "../../../core/ledger/note.ts";
import {
  parseReceipt,
  formatReceiptProof,
  formatReceipt,
  memoizeCheckpointVerifier,
  verifyReceipt,
  type Receipt,
  type ReceiptContext,
} from "../../../core/ledger/receipt.ts";
import {
  buildConsistencyProofFromTiles,
  buildInclusionProofFromTiles,
  computeRootFromTiles,
  computeTilesAfterAppend,
  type TileReader,
} from "../../../core/ledger/tiles.ts";
import { parseTlogProof, formatTlogProof, type TlogProof } from "../../../core/ledger/tlog-proof.ts";
import { noteCrypto, openNoteSigner } from "../../../storage/note-keys.ts";
import { generateFlippedTexts } from "../../support/flipped-texts.ts";
import { createSecret } from "../../support/note-keys.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

const origin = "ledger.example/ledger/2026h2";
const signer = await openNoteSigner(await createSecret(origin, 21));
const stranger = await openNoteSigner(await createSecret(origin, 22));
const trusted = { origin, vkey: formatVkey(signer.key), validFrom: "2026-01-01T00:00:00.000Z" };
const trust = [trusted];

const issued = encodeUtf8(vectors.anchor[0]?.statement ?? "");
const revoked = encodeUtf8(vectors.anchor[1]?.statement ?? "");
const statements = [issued, ...Array.from({ length: 9 }, (_, at) => encodeUtf8(`statement ${at}`)), revoked];

const buildTree = (entries: readonly Uint8Array[]): { read: TileReader; head: (size: number) => TreeHead } => {
  const tiles = computeTilesAfterAppend(
    0n,
    entries.map((entry) => hashLeaf(entry)),
    () => new Uint8Array(0),
  );
  const read: TileReader = (level, n, width) =>
    tiles.find((tile) => tile.level === level && tile.n === n)?.data.subarray(0, width * 32) ?? new Uint8Array(0);
  return { read, head: (size) => ({ size: BigInt(size), root: computeRootFromTiles(BigInt(size), read) }) };
};
const tree = buildTree(statements);

const createReceipt = async (index: number, size = statements.length, noteSigner: NoteSigner = signer, name = origin): Promise<Receipt> => {
  const head = tree.head(size);
  const statement = statements[index] as Uint8Array;
  return {
    v: 1,
    ledger: `tlog:${name}`,
    kind: "tlog",
    tx_ref: `${name}#${index}`,
    entry_hash: toHex(sha256(statement)),
    leaf_index: String(index),
    leaf_hash: toBase64(hashLeaf(statement)),
    inclusion_proof: buildInclusionProofFromTiles(BigInt(index), head.size, tree.read).map(toBase64),
    signed_root: await signNote(formatCheckpoint({ origin: name, ...head }), [noteSigner]),
    tree_size: String(size),
    root_hash: toBase64(head.root),
    submitted_at: "2026-03-04T05:06:09.000Z",
    verified_at: "2026-03-04T05:06:09.412Z",
  };
};
const good = await createReceipt(0);
const notACheckpoint = await signNote("hello\n", [signer]);

const getVerdict = async (receipt: Receipt, statement = issued, context: ReceiptContext = { trustedKeys: trust }): Promise<string> => {
  const verdict = await verifyReceipt(noteCrypto, receipt, statement, context);
  return verdict.ok ? "ok" : verdict.fault;
};

describe("formatReceiptProof", () => {
  test("matches formatTlogProof, and returns null when a hash or the index is malformed", () => {
    const text = formatReceiptProof(good) ?? "";
    const proof = parseTlogProof(text);
    expect(proof).not.toBeNull();
    expect(formatTlogProof(proof as TlogProof)).toBe(text);
    expect([String(proof?.index), proof?.hashes.map(toBase64), proof?.checkpoint]).toEqual([
      good.leaf_index,
      good.inclusion_proof,
      good.signed_root,
    ]);
    for (const hash of ["", "A".repeat(44), `${"A".repeat(42)}B=`, `${"A".repeat(40)}AAE`, good.root_hash.slice(1)])
      expect(formatReceiptProof({ ...good, inclusion_proof: [hash, ...good.inclusion_proof.slice(1)] }), hash).toBeNull();
    for (const index of ["", "-1", "01", "1e3"]) expect(formatReceiptProof({ ...good, leaf_index: index }), index).toBeNull();
  });
});

describe("a receipt", () => {
  test("verifies with only the pinned key", async () => {
    expect(await getVerdict(good)).toBe("ok");
    expect(parseReceipt(formatReceipt(good))).toEqual(good);
    expect(toHex(sha256(issued))).toBe(vectors.anchor[0]?.entry_hash);
    expect(good.leaf_hash).toBe(vectors.anchor[0]?.leaf_hash_b64);
  });

  test("is refused when any character changes, except in our two clock times (T1)", async () => {
    const text = formatReceipt(good);
    const times = /"(?:submitted_at|verified_at)":"([^"]+)"/g;
    const ownTimes = new Set([...text.matchAll(times)].flatMap((match) => [match[1]]));
    let refused = 0;
    for (const changed of generateFlippedTexts(text)) {
      const receipt = changed === null ? null : parseReceipt(changed);
      if (receipt === null || (await getVerdict(receipt)) !== "ok") refused += 1;
      else {
        expect({ ...receipt, submitted_at: good.submitted_at, verified_at: good.verified_at }).toEqual(good);
        expect(ownTimes.has(receipt.submitted_at) && ownTimes.has(receipt.verified_at)).toBe(false);
      }
    }
    // Each byte is changed in three ways. Only changes to the two 24-character times may pass.
    expect(refused).toBeGreaterThanOrEqual((encodeUtf8(text).length - 2 * 24) * 3);
  });

  test("is refused for a different statement, even when whole receipts are swapped (T2)", async () => {
    const other = await createReceipt(10);
    expect(await getVerdict(other, revoked)).toBe("ok");
    expect(await getVerdict(other, issued)).toBe("leaf_mismatch");
    expect(await getVerdict(good, revoked)).toBe("leaf_mismatch");
    expect(await getVerdict({ ...other, entry_hash: good.entry_hash }, issued)).toBe("leaf_mismatch");
    expect(await getVerdict({ ...other, entry_hash: good.entry_hash, leaf_hash: good.leaf_hash }, issued)).toBe("root_mismatch");
  });

  test.each<[string, Partial<Receipt>, string]>([
    ["an index with a leading zero", { leaf_index: "00" }, "receipt_malformed"],
    ["an upper-case leaf hash", { leaf_hash: toHex(sha256(issued)).toUpperCase() }, "receipt_malformed"],
    ["a proof hash with spare bits", { inclusion_proof: [...good.inclusion_proof.slice(1), `${"A".repeat(42)}B=`] }, "receipt_malformed"],
    ["a time without milliseconds", { verified_at: "2026-03-04T05:06:09Z" }, "receipt_malformed"],
    ["a verification before the submission", { verified_at: "2026-03-04T05:06:08.000Z" }, "receipt_malformed"],
    ["a note with CRLF", { signed_root: good.signed_root.replaceAll("\n", "\r\n") }, "note_malformed"],
    ["a note that is not a checkpoint", { signed_root: notACheckpoint }, "checkpoint_malformed"],
    ["another ledger's name", { ledger: "tlog:other.example/log" }, "reference_mismatch"],
    ["another kind", { kind: "rekor2" }, "reference_mismatch"],
    ["another reference", { tx_ref: `${origin}#1` }, "reference_mismatch"],
    ["another size", { tree_size: "12" }, "reference_mismatch"],
    ["another root", { root_hash: good.leaf_hash }, "reference_mismatch"],
    ["an index that is the size", { leaf_index: "11", tx_ref: `${origin}#11` }, "index_outside_tree"],
    ["an index beyond a double", { leaf_index: "9007199254740993", tx_ref: `${origin}#9007199254740993` }, "index_outside_tree"],
    ["a proof one hash short", { inclusion_proof: good.inclusion_proof.slice(1) }, "proof_length"],
    ["a proof one hash long", { inclusion_proof: [...good.inclusion_proof, good.root_hash] }, "proof_length"],
    ["a neighboring index", { leaf_index: "1", tx_ref: `${origin}#1` }, "root_mismatch"],
    ["a separate leaf body", { leaf_body: toBase64(issued) }, "leaf_mismatch"],
  ])("with %s is refused", async (_, change, fault) => {
    expect(await getVerdict({ ...good, ...change })).toBe(fault);
  });

  test("is refused when it is signed by a key that is not pinned (L4)", async () => {
    expect(await getVerdict(await createReceipt(0, 11, stranger))).toBe("no_known_signature");
    expect(await getVerdict(good, issued, { trustedKeys: [] })).toBe("no_known_signature");
  });

  test("is refused when its key was not valid at that time (L4)", async () => {
    const createContextUntil = (validTo: string): ReceiptContext => ({ trustedKeys: [{ ...trusted, validTo }] });
    expect(await getVerdict(good, issued, createContextUntil("2026-03-04T05:06:09.413Z"))).toBe("ok");
    expect(await getVerdict(good, issued, createContextUntil("2026-03-04T05:06:09.412Z"))).toBe("no_known_signature");
    const laterKey = { ...trusted, validFrom: "2026-03-05T00:00:00.000Z" };
    expect(await getVerdict(good, issued, { trustedKeys: [laterKey] })).toBe("no_known_signature");
    expect(await getVerdict(good, issued, { trustedKeys: [laterKey, { ...trusted, validTo: "2026-04-01T00:00:00.000Z" }] })).toBe("ok");
  });

  test("is refused for a different log under the same key (L4)", async () => {
    expect(await getVerdict(await createReceipt(0, 11, signer, "ledger.example/ledger/2027h1"))).toBe("origin_mismatch");
    const otherLogKeys = [{ ...trusted, origin: "ledger.example/ledger/2027h1" }];
    expect(await getVerdict(good, issued, { trustedKeys: otherLogKeys })).toBe("origin_mismatch");
  });

  test("is refused when a signature by the pinned key is invalid, even next to a valid one (T4)", async () => {
    const bad = (await signNote("other\n", [signer])).split("\n\n")[1] ?? "";
    expect(await getVerdict({ ...good, signed_root: good.signed_root + bad })).toBe("bad_signature");
    const unknown = (await signNote("other\n", [stranger])).split("\n\n")[1] ?? "";
    expect(await getVerdict({ ...good, signed_root: good.signed_root + unknown })).toBe("ok");
  });

  test("passes when its tree extends the last verified tree, and is a fork otherwise", async () => {
    const createSeenContext = (size: number): ReceiptContext => ({
      trustedKeys: trust,
      lastVerifiedTree: { head: tree.head(size), proof: buildConsistencyProofFromTiles(BigInt(size), 11n, tree.read) },
    });
    expect(await getVerdict(good, issued, createSeenContext(7))).toBe("ok");
    expect(await getVerdict(good, issued, createSeenContext(11))).toBe("ok");
    const other = buildTree(statements.map((_, at) => encodeUtf8(`another history ${at}`)));
    const forked = { head: other.head(11), proof: [] };
    expect(await getVerdict(good, issued, { trustedKeys: trust, lastVerifiedTree: forked })).toBe("fork");
    const older = { head: other.head(7), proof: buildConsistencyProofFromTiles(7n, 11n, tree.read) };
    expect(await getVerdict(good, issued, { trustedKeys: trust, lastVerifiedTree: older })).toBe("fork");
    // A late response with a smaller tree is not a fork if the larger tree extends it.
    const late = await createReceipt(0, 5);
    const proof = buildConsistencyProofFromTiles(5n, 11n, tree.read);
    expect(await getVerdict(late, issued, { trustedKeys: trust, lastVerifiedTree: { head: tree.head(11), proof } })).toBe("ok");
    expect(await getVerdict(late, issued, { trustedKeys: trust, lastVerifiedTree: { head: other.head(11), proof } })).toBe("fork");
  });

  test("is refused when a wrapping leaf is not bound to the statement", async () => {
    const body = encodeUtf8(`{"wrapped":"${toHex(sha256(issued))}"}`);
    const wrapped = buildTree([body, encodeUtf8("else")]);
    const head = wrapped.head(2);
    const receipt: Receipt = {
      ...good,
      ledger: `rekor2:${origin}`,
      kind: "rekor2",
      leaf_hash: toBase64(hashLeaf(body)),
      leaf_body: toBase64(body),
      inclusion_proof: buildInclusionProofFromTiles(0n, 2n, wrapped.read).map(toBase64),
      signed_root: await signNote(formatCheckpoint({ origin, ...head }), [signer]),
      tree_size: "2",
      root_hash: toBase64(head.root),
    };
    const isBoundToLeaf: ReceiptContext["isLeafBoundToStatement"] = async (leafBody, statement) =>
      toHex(leafBody) === toHex(encodeUtf8(`{"wrapped":"${toHex(sha256(statement))}"}`));
    expect(await getVerdict(receipt, issued, { trustedKeys: trust, isLeafBoundToStatement: isBoundToLeaf })).toBe("ok");
    expect(await getVerdict(receipt, issued, { trustedKeys: trust })).toBe("leaf_mismatch");
    expect(await getVerdict(receipt, issued, { trustedKeys: trust, isLeafBoundToStatement: async () => false })).toBe("leaf_mismatch");
    const { leaf_body: _, ...bare } = receipt;
    expect(await getVerdict(bare, issued, { trustedKeys: trust, isLeafBoundToStatement: isBoundToLeaf })).toBe("leaf_mismatch");
  });

  test.each([
    ["a space", (text: string) => text.replace(",", ", ")],
    ["members in another order", (text: string) => `{"v":1,${text.slice(1).replace(',"v":1', "")}`],
    ["a duplicate member", (text: string) => text.replace('"v":1', '"v":1,"v":1')],
    ["an extra member", (text: string) => text.replace(/}$/, ',"w":"1"}')],
    ["a missing member", (text: string) => text.replace(',"v":1', "")],
    ["another version", (text: string) => text.replace('"v":1', '"v":2')],
    ["an escaped slash", (text: string) => text.replace("/", "\\/")],
    ["a number for an index", (text: string) => text.replace('"leaf_index":"0"', '"leaf_index":0')],
    ["a byte order mark", (text: string) => `\ufeff${text}`],
    ["a line break at the end", (text: string) => `${text}\n`],
  ])("is malformed with %s", (_, change) => {
    const text = formatReceipt(good);
    expect(change(text)).not.toBe(text);
    expect(parseReceipt(change(text))).toBeNull();
  });
});

test("memoizeCheckpointVerifier verifies a checkpoint once per set of keys", async () => {
  let verified = 0;
  const counting = {
    ...noteCrypto,
    verifyEd25519: (...signed: Parameters<typeof noteCrypto.verifyEd25519>) => {
      verified += 1;
      return noteCrypto.verifyEd25519(...signed);
    },
  };
  const read = memoizeCheckpointVerifier(counting);
  const others = [{ ...trusted, vkey: formatVkey(stranger.key) }];
  for (let times = 0; times < 3; times += 1) {
    expect(await read(good.signed_root, trust)).toMatchObject({ ok: true });
    expect(await read(good.signed_root, others)).toEqual({ ok: false, fault: "no_known_signature" });
  }
  expect(verified).toBe(1);
});
