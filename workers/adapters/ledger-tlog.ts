// A tile log as a ledger: ours, or any other that takes entries over POST /add and publishes C2SP tiles. Nothing it answers
// is believed: an outcome is `ok` only when the entry is proved to be in a tree that the pinned key signed and that begins
// with the last tree we saw.
import { encodeUtf8 } from "../../core/bytes.ts";
import type { LedgerFailure, LedgerAdapter, SubmissionOutcome, LedgerSubmission } from "../../core/ledger/adapter.ts";
import { verifyCheckpoint } from "../../core/ledger/checkpoint.ts";
import { parseCount, buildInclusionProof } from "../../core/ledger/merkle.ts";
import { parseVkey, memoizeNoteCrypto, type NoteCrypto, type VerifierKey } from "../../core/ledger/note.ts";
import { filterKeysInUse, buildReceipt, memoizeCheckpointVerifier, verifyReceipt } from "../../core/ledger/receipt.ts";
import { encodeEntryBundle, createTileNodeReader, listTilesRead, tileWidth } from "../../core/ledger/tiles.ts";
import { parseIJson } from "../../core/i-json.ts";
import { toIso, secondMs, type Clock } from "../../core/time.ts";
import { sendWithLimits, permanentFailure, retryableFailure, retryAfterMs, type ExchangeResponse, type SendRequest } from "./exchange.ts";
import { checkHistory, createLogReader, createTileStore, toSeenTree, type LedgerEndpoint, type VerifiedCheckpoint } from "./log-reader.ts";

export interface TlogLedger extends LedgerEndpoint {
  readonly writeToken: string;
}

const requestTimeoutMs = 10 * secondMs;
const maxPerBundle = 256; // one tile; also what /add-batch takes
const maxPerBatch = 1_000; // 4 bundles and one checkpoint: the checkpoint, signed once a second, is what takes the time
const maxCheckpointAttempts = 10;
const checkpointPauseMs = 300;
const maxResponseBytes = 65_536;

type AddResult = { readonly ok: true; readonly index: bigint } | LedgerFailure;

const permanentStatuses: ReadonlySet<number> = new Set([400, 401, 403, 413]); // of the statement or our token; any other status may pass

/** What a status that is no success means for the statement that was sent. */
const failureFromStatus = ({ status, headers }: ExchangeResponse, clock: Clock): LedgerFailure =>
  permanentStatuses.has(status) ? permanentFailure(`http_${status}`) : retryableFailure(`http_${status}`, retryAfterMs(headers, clock));

const parseIndex = (text: unknown): AddResult => {
  const index = typeof text === "string" ? parseCount(text) : null;
  return index === null ? retryableFailure("answer_malformed") : { ok: true, index };
};

const findHighestIndex = (added: readonly AddResult[]): bigint | null =>
  added.reduce<bigint | null>((highest, one) => (one.ok && (highest === null || one.index > highest) ? one.index : highest), null);

export const createTlogAdapter = (ledger: TlogLedger, send: SendRequest, crypto: NoteCrypto, clock: Clock): LedgerAdapter => {
  const id = `tlog:${ledger.origin}`;

  const ask = (path: string, init: RequestInit, signal: AbortSignal, maxBytes = maxResponseBytes) =>
    sendWithLimits(send, `${ledger.baseUrl}/${path}`, init, { timeoutMs: requestTimeoutMs, maxBytes, signal });

  const read = (path: string, maxBytes: number, signal: AbortSignal) => ask(path, {}, signal, maxBytes);

  const post = (path: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal) => {
    const headers = { authorization: `Bearer ${ledger.writeToken}`, "content-type": "application/octet-stream" };
    return ask(path, { method: "POST", headers, body }, signal);
  };

  const addOne = async (submission: LedgerSubmission, signal: AbortSignal): Promise<AddResult> => {
    const sent = await post("add", encodeUtf8(submission.statement), signal);
    if (!sent.ok) return sent;
    return sent.answer.status === 200
      ? parseIndex(new TextDecoder().decode(sent.answer.body).trim())
      : failureFromStatus(sent.answer, clock);
  };

  const addEach = async (chunk: readonly LedgerSubmission[], signal: AbortSignal): Promise<AddResult[]> => {
    const added: AddResult[] = [];
    for (const submission of chunk) added.push(await addOne(submission, signal));
    return added;
  };

  /** A whole bundle at once; one by one where the log does not know bundles, or refuses this one because of one of them. */
  const addChunk = async (chunk: readonly LedgerSubmission[], signal: AbortSignal): Promise<AddResult[]> => {
    const sent = await post("add-batch", encodeEntryBundle(chunk.map(({ statement }) => encodeUtf8(statement))), signal);
    if (!sent.ok) return chunk.map(() => sent);
    const { status, body } = sent.answer;
    if (status === 404 || ((status === 400 || status === 413) && chunk.length > 1)) return addEach(chunk, signal);
    if (status !== 200) return chunk.map(() => failureFromStatus(sent.answer, clock));
    const parsed = parseIJson(body);
    const indices = parsed.ok ? (parsed.value as { indices?: unknown } | null)?.indices : undefined;
    if (!Array.isArray(indices) || indices.length !== chunk.length) return chunk.map(() => retryableFailure("answer_malformed"));
    return indices.map(parseIndex);
  };

  /** The newest checkpoint, signed by a key pinned for now. */
  const newest = async (signal: AbortSignal): Promise<({ readonly ok: true } & VerifiedCheckpoint) | LedgerFailure> => {
    const sent = await ask("checkpoint", {}, signal);
    if (!sent.ok) return sent;
    if (sent.answer.status !== 200) return failureFromStatus(sent.answer, clock);
    const note = new TextDecoder().decode(sent.answer.body);
    const keys = filterKeysInUse(ledger.trust, toIso(clock()))
      .map((key) => parseVkey(crypto.sha256, key.vkey))
      .filter((key): key is VerifierKey => key !== null);
    const verdict = await verifyCheckpoint(crypto, note, { origin: ledger.origin, keys });
    return verdict.ok ? { ok: true, note, checkpoint: verdict.checkpoint } : retryableFailure(verdict.fault);
  };

  /** A checkpoint that covers `index`: a log signs at most so often. */
  const checkpointCovering = async (
    index: bigint,
    signal: AbortSignal,
  ): Promise<({ readonly ok: true } & VerifiedCheckpoint) | LedgerFailure> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await newest(signal);
      if (!answer.ok || answer.checkpoint.size > index) return answer;
      if (tries === maxCheckpointAttempts) return retryableFailure("not_in_checkpoint");
      await new Promise((resolve) => setTimeout(resolve, checkpointPauseMs));
    }
  };

  const submit: LedgerAdapter["submit"] = async (batch, lastSeen, signal) => {
    const submittedAt = clock();
    const added: AddResult[] = [];
    for (let at = 0; at < batch.length; at += maxPerBundle) added.push(...(await addChunk(batch.slice(at, at + maxPerBundle), signal)));
    const all = (outcome: SubmissionOutcome): SubmissionOutcome[] => added.map((one) => (one.ok ? outcome : one));
    const highest = findHighestIndex(added);
    if (highest === null) return added as LedgerFailure[];

    const covering = await checkpointCovering(highest, signal);
    if (!covering.ok) return all(covering);
    const { size } = covering.checkpoint;
    const tiles = createTileStore(read, signal);
    // Entries of one tile have the same tiles on their ways to the root, so one of each tile tells them all.
    const ofEachTile = new Map(added.flatMap((one) => (one.ok ? [[one.index / BigInt(tileWidth), one.index] as const] : [])));
    const places = listTilesRead((hash, from) => {
      const nodes = createTileNodeReader(hash, size, from);
      for (const index of ofEachTile.values()) buildInclusionProof(hash, index, size, nodes);
    });
    const refused = (await tiles.load(places)) ?? (await checkHistory(crypto.sha256, tiles, lastSeen, covering));
    if (refused !== null) return all(refused);

    // One reader, one set of hashed nodes and one verdict on the checkpoint for the whole batch: all its proofs end in the same tree.
    const ofBatch = memoizeNoteCrypto(crypto);
    const nodes = createTileNodeReader(ofBatch.sha256, size, tiles.read);
    const context = { trustedKeys: ledger.trust, verifySignedRoot: memoizeCheckpointVerifier(ofBatch) };
    const outcomes: SubmissionOutcome[] = [];
    for (const [at, submission] of batch.entries()) {
      const one = added[at] as AddResult;
      if (!one.ok) {
        outcomes.push(one);
        continue;
      }
      const hashes = buildInclusionProof(ofBatch.sha256, one.index, size, nodes);
      const times = { submittedAt, verifiedAt: Math.max(clock(), submittedAt) };
      const place = { kind: "tlog", origin: ledger.origin, index: one.index, hashes } as const;
      const receipt = buildReceipt(crypto.sha256, submission.statement, { ...covering, ...place, ...times });
      const verdict = await verifyReceipt(ofBatch, receipt, encodeUtf8(submission.statement), context);
      outcomes.push(verdict.ok ? { ok: true, receipt, seen: toSeenTree(covering) } : retryableFailure(`receipt_${verdict.fault}`));
    }
    return outcomes;
  };

  return {
    id,
    role: ledger.role,
    maxPerBatch,
    prepare: async ({ statement }) => statement,
    submit,
    ...createLogReader(crypto.sha256, read, newest),
  };
};
