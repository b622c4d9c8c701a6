// Packs the receipts of statements that were submitted together into one record. These receipts have the same checkpoint, and their proofs
// share most nodes. Unpacking restores each receipt byte for byte.
import { concatBytes, fromBase64, toBase64 } from "../bytes.ts";
import type { Instant } from "../time.ts";
import { parseCheckpoint } from "./checkpoint.ts";
import { countSharedProofHashes, getInclusionProofLength, hashLength } from "./merkle.ts";
import { buildReceipt, type LedgerKind, type Receipt } from "./receipt.ts";

/** A verified receipt, with the number of its statement. Numbers are unique within a batch. */
export interface NumberedReceipt {
  readonly ord: number;
  readonly receipt: Receipt;
}

export interface ReceiptBatch {
  /** The ID of the ledger, `<kind>:<origin>`. */
  readonly ledgerId: string;
  /** The signed checkpoint, unchanged. */
  readonly note: string;
  readonly submittedAt: Instant;
  readonly verifiedAt: Instant;
  /**
   * `<number of the statement>#<leaf index>` for each statement in the order of the tree, separated by spaces. Except in the first entry,
   * both numbers are the differences from the previous entry.
   */
  readonly leaves: string;
  /**
   * The nodes of the proofs in base64. For each statement, they are the hashes of its proof from the root down, without those that the
   * previous statement's proof also contains.
   */
  readonly nodes: string;
  /** For a ledger that wraps statements: the leaves as a JSON object from statement number to base64; null otherwise. */
  readonly leafBodies: string | null;
}

/** The maximum number of statements in a batch. It is low because unpacking one receipt reads the entire batch. */
const maxStatements = 64;

const haveSameSource = (a: Receipt, b: Receipt): boolean =>
  a.ledger === b.ledger &&
  a.signed_root === b.signed_root &&
  a.submitted_at === b.submitted_at &&
  a.verified_at === b.verified_at &&
  (a.leaf_body === undefined) === (b.leaf_body === undefined);

const packBatch = (numbered: readonly NumberedReceipt[]): ReceiptBatch => {
  const inTree = numbered
    .map((one) => ({ ...one, index: BigInt(one.receipt.leaf_index) }))
    .sort((a, b) => (a.index < b.index ? -1 : a.index > b.index ? 1 : a.ord - b.ord));
  const [{ receipt: first }] = inTree as [(typeof inTree)[number]];
  const size = BigInt(first.tree_size);
  const leaves = inTree.map(({ ord, index }, at) => {
    const before = inTree[at - 1];
    return before === undefined ? `${ord}#${index}` : `${ord - before.ord}#${index - before.index}`;
  });
  const hashes = inTree.flatMap(({ receipt, index }, at) => {
    const before = inTree[at - 1];
    const shared = before === undefined ? 0 : countSharedProofHashes(before.index, index, size);
    return receipt.inclusion_proof.toReversed().slice(shared);
  });
  const bodies = inTree.flatMap(({ ord, receipt }) => (receipt.leaf_body === undefined ? [] : [[ord, receipt.leaf_body] as const]));
  return {
    ledgerId: first.ledger,
    note: first.signed_root,
    submittedAt: Date.parse(first.submitted_at),
    verifiedAt: Date.parse(first.verified_at),
    leaves: leaves.join(" "),
    nodes: toBase64(concatBytes(...hashes.map((hash) => fromBase64(hash) as Uint8Array))),
    leafBodies: bodies.length === 0 ? null : JSON.stringify(Object.fromEntries(bodies)),
  };
};

/** Packs verified receipts, which must be sorted by number, into as few batches as possible. Each batch covers consecutive receipts. */
export const packReceipts = (
  numbered: readonly NumberedReceipt[],
): readonly { readonly batch: ReceiptBatch; readonly ords: readonly number[] }[] => {
  const runs: NumberedReceipt[][] = [];
  for (const one of numbered) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last !== undefined && run.length < maxStatements && haveSameSource(last.receipt, one.receipt)) run.push(one);
    else runs.push([one]);
  }
  return runs.map((run) => ({ batch: packBatch(run), ords: run.map(({ ord }) => ord) }));
};

/** Lists the statements of a batch in the order of the tree, each with its leaf index. */
export const listLeaves = ({ leaves }: Pick<ReceiptBatch, "leaves">): readonly { readonly ord: number; readonly index: bigint }[] => {
  let ord = 0;
  let index = 0n;
  return leaves.split(" ").map((leaf) => {
    const [ordStep, indexStep] = leaf.split("#") as [string, string];
    ord += Number(ordStep);
    index += BigInt(indexStep);
    return { ord, index };
  });
};

/** Returns the receipt of the statement with this number, or null if the batch does not contain it. Throws if the batch is malformed. */
export const unpackReceipt = (batch: ReceiptBatch, ord: number, statement: string): Receipt | null => {
  const checkpoint = parseCheckpoint(batch.note);
  const nodes = fromBase64(batch.nodes);
  if (checkpoint === null || nodes === null) throw new Error("receipts: malformed batch");
  const path: Uint8Array[] = []; // the proof of the current statement, from the root down
  let before: bigint | null = null;
  let from = 0;
  for (const { ord: number, index } of listLeaves(batch)) {
    path.length = before === null ? 0 : countSharedProofHashes(before, index, checkpoint.size);
    before = index;
    for (const length = getInclusionProofLength(index, checkpoint.size); path.length < length; from += hashLength)
      path.push(nodes.subarray(from, from + hashLength));
    if (number !== ord) continue;
    const bodies = batch.leafBodies === null ? {} : (JSON.parse(batch.leafBodies) as Readonly<Record<string, string>>);
    const body = bodies[ord];
    return buildReceipt(statement, {
      kind: batch.ledgerId.slice(0, batch.ledgerId.indexOf(":")) as LedgerKind,
      origin: checkpoint.origin,
      index,
      ...(body !== undefined && { leaf: fromBase64(body) as Uint8Array }),
      hashes: path.toReversed(),
      note: batch.note,
      checkpoint,
      submittedAt: batch.submittedAt,
      verifiedAt: batch.verifiedAt,
    });
  }
  return null;
};
