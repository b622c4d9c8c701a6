// The ledger adapter for a tile log: the embedded ledger, or any log with POST /add and C2SP tiles. The adapter does not trust responses.
// An outcome is `ok` only if a tree contains the entry, a pinned key has signed the tree, and the tree is consistent with the last tree
// seen.
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
const maxPerBundle = 256; // the number of entries in a tile, and the maximum that /add-batch accepts
// A batch fits into 4 bundles. It takes about a second, most of which is spent waiting for a checkpoint, because the log signs only one per
// second.
const maxPerBatch = 1_000;
const maxCheckpointAttempts = 10;
const checkpointPauseMs = 300;
const maxResponseBytes = 65_536;

type AddResult = { readonly ok: true; readonly index: bigint } | LedgerFailure;

const permanentStatuses: ReadonlySet<number> = new Set([400, 401, 403, 413]); // every other status is retryable

const failureFromStatus = ({ status, headers }: ExchangeResponse, clock: Clock): LedgerFailure =>
  permanentStatuses.has(status) ? permanentFailure(`http_${status}`) : retryableFailure(`http_${status}`, retryAfterMs(headers, clock));

const parseIndex = (text: unknown): AddResult => {
  const index = typeof text === "string" ? parseCount(text) : null;
  return index === null ? retryableFailure("answer_malformed") : { ok: true, index };
};

const findHighestIndex = (added: readonly AddResult[]): bigint | null =>
  added.reduce<bigint | null>(
    (highest, result) => (result.ok && (highest === null || result.index > highest) ? result.index : highest),
    null,
  );

export const createTlogAdapter = (ledger: TlogLedger, send: SendRequest, crypto: NoteCrypto, clock: Clock): LedgerAdapter => {
  const id = `tlog:${ledger.origin}`;

  const request = (path: string, init: RequestInit, signal: AbortSignal, maxBytes = maxResponseBytes) =>
    sendWithLimits(send, `${ledger.baseUrl}/${path}`, init, { timeoutMs: requestTimeoutMs, maxBytes, signal });

  const read = (path: string, maxBytes: number, signal: AbortSignal) => request(path, {}, signal, maxBytes);

  const post = (path: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal) => {
    const headers = { authorization: `Bearer ${ledger.writeToken}`, "content-type": "application/octet-stream" };
    return request(path, { method: "POST", headers, body }, signal);
  };

  const addOne = async (submission: LedgerSubmission, signal: AbortSignal): Promise<AddResult> => {
    const sent = await post("add", encodeUtf8(submission.statement), signal);
    if (!sent.ok) return sent;
    return sent.response.status === 200
      ? parseIndex(new TextDecoder().decode(sent.response.body).trim())
      : failureFromStatus(sent.response, clock);
  };

  const addEach = async (chunk: readonly LedgerSubmission[], signal: AbortSignal): Promise<AddResult[]> => {
    const added: AddResult[] = [];
    for (const submission of chunk) added.push(await addOne(submission, signal));
    return added;
  };

  /**
   * Adds a bundle in one request. If the log has no /add-batch, or refuses a bundle of several entries with 400 or 413, sends one request
   * per entry instead.
   */
  const addChunk = async (chunk: readonly LedgerSubmission[], signal: AbortSignal): Promise<AddResult[]> => {
    const sent = await post("add-batch", encodeEntryBundle(chunk.map(({ statement }) => encodeUtf8(statement))), signal);
    if (!sent.ok) return chunk.map(() => sent);
    const { status, body } = sent.response;
    if (status === 404 || ((status === 400 || status === 413) && chunk.length > 1)) return addEach(chunk, signal);
    if (status !== 200) return chunk.map(() => failureFromStatus(sent.response, clock));
    const parsed = parseIJson(body);
    const indices = parsed.ok ? (parsed.value as { indices?: unknown } | null)?.indices : undefined;
    if (!Array.isArray(indices) || indices.length !== chunk.length) return chunk.map(() => retryableFailure("answer_malformed"));
    return indices.map(parseIndex);
  };

  /** Fetches the newest checkpoint and verifies it with the keys that are valid now. */
  const getNewestCheckpoint = async (signal: AbortSignal): Promise<({ readonly ok: true } & VerifiedCheckpoint) | LedgerFailure> => {
    const sent = await request("checkpoint", {}, signal);
    if (!sent.ok) return sent;
    if (sent.response.status !== 200) return failureFromStatus(sent.response, clock);
    const note = new TextDecoder().decode(sent.response.body);
    const keys = filterKeysInUse(ledger.trust, toIso(clock()))
      .map((key) => parseVkey(key.vkey))
      .filter((key): key is VerifierKey => key !== null);
    const verdict = await verifyCheckpoint(crypto, note, { origin: ledger.origin, keys });
    return verdict.ok ? { ok: true, note, checkpoint: verdict.checkpoint } : retryableFailure(verdict.fault);
  };

  /** Fetches the newest checkpoint until it covers `index`, at most ten times. */
  const waitForCheckpoint = async (
    index: bigint,
    signal: AbortSignal,
  ): Promise<({ readonly ok: true } & VerifiedCheckpoint) | LedgerFailure> => {
    for (let attempt = 1; ; attempt += 1) {
      const newest = await getNewestCheckpoint(signal);
      if (!newest.ok || newest.checkpoint.size > index) return newest;
      if (attempt === maxCheckpointAttempts) return retryableFailure("not_in_checkpoint");
      await new Promise((resolve) => setTimeout(resolve, checkpointPauseMs));
    }
  };

  const submit: LedgerAdapter["submit"] = async (batch, lastSeen, signal) => {
    const submittedAt = clock();
    const added: AddResult[] = [];
    for (let at = 0; at < batch.length; at += maxPerBundle) added.push(...(await addChunk(batch.slice(at, at + maxPerBundle), signal)));
    const forAllAdded = (outcome: SubmissionOutcome): SubmissionOutcome[] => added.map((result) => (result.ok ? outcome : result));
    const highest = findHighestIndex(added);
    if (highest === null) return added as LedgerFailure[];

    const covering = await waitForCheckpoint(highest, signal);
    if (!covering.ok) return forAllAdded(covering);
    const { size } = covering.checkpoint;
    const tiles = createTileStore(read, signal);
    // Entries in the same tile need the same tiles for their proofs, so list the tiles for only one entry per tile.
    const indexByTile = new Map(added.flatMap((result) => (result.ok ? [[result.index / BigInt(tileWidth), result.index] as const] : [])));
    const locations = listTilesRead(size, (nodes) => {
      for (const index of indexByTile.values()) buildInclusionProof(index, size, nodes);
    });
    const refused = (await tiles.load(locations)) ?? (await checkHistory(tiles, lastSeen, covering));
    if (refused !== null) return forAllAdded(refused);

    // All proofs lead to the same tree, so the whole batch shares one reader, the node hashes and one verification of the checkpoint.
    const batchCrypto = memoizeNoteCrypto(crypto);
    const nodes = createTileNodeReader(size, tiles.read);
    const context = { trustedKeys: ledger.trust, verifySignedRoot: memoizeCheckpointVerifier(batchCrypto) };
    const times = { submittedAt, verifiedAt: Math.max(clock(), submittedAt) };
    const outcomes: SubmissionOutcome[] = [];
    for (const [at, submission] of batch.entries()) {
      const result = added[at] as AddResult;
      if (!result.ok) {
        outcomes.push(result);
        continue;
      }
      const hashes = buildInclusionProof(result.index, size, nodes, batchCrypto.hashNode);
      const entry = { kind: "tlog", origin: ledger.origin, index: result.index, hashes } as const;
      const receipt = buildReceipt(submission.statement, { ...covering, ...entry, ...times });
      const verdict = await verifyReceipt(batchCrypto, receipt, encodeUtf8(submission.statement), context);
      outcomes.push(verdict.ok ? { ok: true, receipt, verifiedTree: toSeenTree(covering) } : retryableFailure(`receipt_${verdict.fault}`));
    }
    return outcomes;
  };

  return {
    id,
    origin: ledger.origin,
    role: ledger.role,
    maxPerBatch,
    prepare: async ({ statement }) => statement,
    submit,
    ...createLogReader(read, getNewestCheckpoint),
  };
};
