// A tile log as a ledger: ours, or any other that takes entries over POST /add and publishes C2SP tiles. Nothing it answers
// is believed: an outcome is `ok` only when the entry is proved to be in a tree that the pinned key signed and that begins
// with the last tree we saw.
import { base64Of, bytesOfBase64, hexOf, utf8 } from "../../core/bytes.ts";
import type { LedgerAdapter, Outcome, SeenTree, Submission } from "../../core/ledger/adapter.ts";
import { verifyCheckpoint, type Checkpoint } from "../../core/ledger/checkpoint.ts";
import { countOf, isConsistent, leafHash, type TreeHead } from "../../core/ledger/merkle.ts";
import { parseVkey, type NoteCrypto, type VerifierKey } from "../../core/ledger/note.ts";
import { verifyReceipt, type Receipt, type TrustedLogKey } from "../../core/ledger/receipt.ts";
import {
  consistencyProofFromTiles,
  entryBundle,
  inclusionProofFromTiles,
  tilePath,
  tilesReadBy,
  type ReadTile,
  type TilePlace,
} from "../../core/ledger/tiles.ts";
import { parseIJson } from "../../core/i-json.ts";
import { isoOf, secondMs, type Clock } from "../../core/time.ts";

export interface TlogLedger {
  readonly origin: string;
  readonly role: "primary" | "mirror";
  /** Address of the log, without a trailing slash; paths of the interface follow it. */
  readonly baseUrl: string;
  readonly writeToken: string;
  /** Pinned, never fetched from the log. */
  readonly trust: readonly TrustedLogKey[];
}

export type LedgerFetch = (request: Request) => Promise<Response>;

const answerWithinMs = 10 * secondMs;
const mostPerBundle = 256; // one tile; also what /add-batch takes
const mostPerBatch = 1_000; // 4 bundles and one checkpoint: the checkpoint, signed once a second, is what takes the time
const checkpointTries = 10;
const checkpointPauseMs = 300;
const mostAnswerBytes = 65_536;
const tilesAtOnce = 4; // of the six connections an invocation may hold open

interface Refused {
  readonly ok: false;
  readonly outcome: Outcome;
}
type Answered<T> = { readonly ok: true; readonly value: T } | Refused;

const retry = (code: string, afterMs?: number): Refused => ({
  ok: false,
  outcome: { ok: false, kind: "retry", code, ...(afterMs !== undefined && { afterMs }) },
});
const permanent = (code: string): Refused => ({ ok: false, outcome: { ok: false, kind: "permanent", code } });

/** Retry-After in seconds; a date or nonsense is left to our own schedule. */
const afterMsOf = (response: Response): number | undefined => {
  const text = response.headers.get("retry-after") ?? "";
  return /^\d{1,6}$/.test(text) ? Number(text) * secondMs : undefined;
};

/** What a status that is no success means for the statement that was sent. */
const refusedBy = (response: Response): Refused => {
  if (response.status === 429 || response.status === 503) return retry(`http_${response.status}`, afterMsOf(response));
  if (response.status === 400 || response.status === 401 || response.status === 403 || response.status === 413)
    return permanent(`http_${response.status}`);
  return retry(`http_${response.status}`);
};

/** The body, or null past the cap. */
const bodyOf = async (response: Response, most: number): Promise<Uint8Array | null> => {
  const announced = Number(response.headers.get("content-length") ?? 0);
  if (announced > most) {
    await response.body?.cancel();
    return null;
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  return bytes.length > most ? null : bytes;
};

export const tlogAdapter = (ledger: TlogLedger, fetchLedger: LedgerFetch, crypto: NoteCrypto, clock: Clock): LedgerAdapter => {
  const id = `tlog:${ledger.origin}`;

  const ask = async (
    path: string,
    init: RequestInit,
    signal: AbortSignal,
    most = mostAnswerBytes,
  ): Promise<Answered<{ response: Response; body: Uint8Array }>> => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), answerWithinMs);
    const stop = (): void => limit.abort();
    signal.addEventListener("abort", stop);
    try {
      const response = await fetchLedger(new Request(`${ledger.baseUrl}/${path}`, { ...init, redirect: "manual", signal: limit.signal }));
      const body = await bodyOf(response, most);
      return body === null ? retry("answer_too_large") : { ok: true, value: { response, body } };
    } catch {
      return retry(limit.signal.aborted ? "timeout" : "connection"); // whatever broke the connection, the next try is the same
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  };

  const post = (path: string, contentType: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal) =>
    ask(path, { method: "POST", headers: { authorization: `Bearer ${ledger.writeToken}`, "content-type": contentType }, body }, signal);

  const addOne = async (submission: Submission, signal: AbortSignal): Promise<Answered<bigint>> => {
    const answer = await post("add", "application/octet-stream", utf8(submission.statement), signal);
    if (!answer.ok) return answer;
    if (answer.value.response.status !== 200) return refusedBy(answer.value.response);
    const index = countOf(new TextDecoder().decode(answer.value.body).trim());
    return index === null ? retry("answer_malformed") : { ok: true, value: index };
  };

  const addEach = async (chunk: readonly Submission[], signal: AbortSignal): Promise<Answered<bigint>[]> => {
    const added: Answered<bigint>[] = [];
    for (const submission of chunk) added.push(await addOne(submission, signal));
    return added;
  };

  /** A whole bundle at once; one by one where the log does not know bundles, or refuses this one because of one of them. */
  const addChunk = async (chunk: readonly Submission[], signal: AbortSignal): Promise<Answered<bigint>[]> => {
    const bundle = entryBundle(chunk.map(({ statement }) => utf8(statement)));
    const answer = await post("add-batch", "application/octet-stream", bundle, signal);
    if (!answer.ok) return chunk.map(() => answer);
    const { status } = answer.value.response;
    if (status === 404 || ((status === 400 || status === 413) && chunk.length > 1)) return addEach(chunk, signal);
    if (status !== 200) return chunk.map(() => refusedBy(answer.value.response));
    const parsed = parseIJson(answer.value.body);
    const indices = parsed.ok ? (parsed.value as { indices?: unknown } | null)?.indices : undefined;
    if (!Array.isArray(indices) || indices.length !== chunk.length) return chunk.map(() => retry("answer_malformed"));
    return indices.map((text) => {
      const index = typeof text === "string" ? countOf(text) : null;
      return index === null ? retry("answer_malformed") : { ok: true, value: index };
    });
  };

  const keys = ledger.trust.map((key) => parseVkey(crypto.sha256, key.vkey)).filter((key): key is VerifierKey => key !== null);

  /** A checkpoint signed by a pinned key that covers `index`. */
  const checkpointCovering = async (index: bigint, signal: AbortSignal): Promise<Answered<{ note: string; checkpoint: Checkpoint }>> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await ask("checkpoint", {}, signal);
      if (!answer.ok) return answer;
      if (answer.value.response.status !== 200) return refusedBy(answer.value.response);
      const note = new TextDecoder().decode(answer.value.body);
      const verdict = await verifyCheckpoint(crypto, note, { origin: ledger.origin, keys });
      if (!verdict.ok) return retry(verdict.fault);
      if (verdict.checkpoint.size > index) return { ok: true, value: { note, checkpoint: verdict.checkpoint } };
      if (tries === checkpointTries) return retry("not_in_checkpoint");
      await new Promise((resolve) => setTimeout(resolve, checkpointPauseMs));
    }
  };

  /** Fetches tiles, each once, a few at a time. */
  const fetchTiles = async (places: readonly TilePlace[], signal: AbortSignal): Promise<Answered<ReadTile>> => {
    const tiles = new Map<string, Uint8Array>();
    const waiting = [...new Map(places.map((place) => [tilePath(place), place])).entries()];
    let refused: Refused | null = null;
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined && refused === null; next = waiting.pop()) {
        const [path] = next;
        const answer = await ask(path, {}, signal);
        if (!answer.ok) refused = answer;
        else if (answer.value.response.status !== 200) refused = retry(`tile_http_${answer.value.response.status}`);
        else tiles.set(path, answer.value.body);
      }
    };
    await Promise.all(Array.from({ length: tilesAtOnce }, worker));
    if (refused !== null) return refused;
    const read: ReadTile = (level, n, width) => {
      const tile = tiles.get(tilePath({ level, n, width }));
      if (tile === undefined) throw new RangeError("tiles: a tile was not fetched");
      return tile;
    };
    return { ok: true, value: read };
  };

  const headOf = (seen: SeenTree): TreeHead | null => {
    const size = countOf(seen.size);
    const root = bytesOfBase64(seen.root);
    return size === null || root === null ? null : { size, root };
  };

  const receiptFor = (
    submission: Submission,
    index: bigint,
    note: string,
    checkpoint: Checkpoint,
    hashes: readonly Uint8Array[],
    submittedAt: number,
  ): Receipt => ({
    v: 1,
    ledger: id,
    kind: "tlog",
    tx_ref: `${ledger.origin}#${index}`,
    entry_hash: hexOf(crypto.sha256(utf8(submission.statement))),
    leaf_index: index.toString(),
    leaf_hash: base64Of(leafHash(crypto.sha256, utf8(submission.statement))),
    inclusion_proof: hashes.map(base64Of),
    signed_root: note,
    tree_size: checkpoint.size.toString(),
    root_hash: base64Of(checkpoint.root),
    submitted_at: isoOf(submittedAt),
    verified_at: isoOf(Math.max(clock(), submittedAt)),
  });

  const submit = async (batch: readonly Submission[], lastSeen: SeenTree | null, signal: AbortSignal): Promise<readonly Outcome[]> => {
    const submittedAt = clock();
    const added: Answered<bigint>[] = [];
    for (let at = 0; at < batch.length; at += mostPerBundle) added.push(...(await addChunk(batch.slice(at, at + mostPerBundle), signal)));
    const indices = added.flatMap((answer) => (answer.ok ? [answer.value] : []));
    const all = (refused: Refused): Outcome[] => added.map((answer) => (answer.ok ? refused.outcome : answer.outcome));
    if (indices.length === 0) return added.map((answer) => (answer as Refused).outcome);

    const highest = indices.toSorted((a, b) => (a < b ? -1 : 1)).at(-1) as bigint;
    const covering = await checkpointCovering(highest, signal);
    if (!covering.ok) return all(covering);
    const { note, checkpoint } = covering.value;
    const { size } = checkpoint;

    const seen = lastSeen === null ? null : headOf(lastSeen);
    const smaller = seen !== null && seen.size < size ? seen.size : null;
    const places = [
      ...new Map(
        [
          ...indices.flatMap((index) => tilesReadBy((hash, read) => inclusionProofFromTiles(hash, index, size, read))),
          ...(smaller === null || smaller === 0n ? [] : tilesReadBy((hash, read) => consistencyProofFromTiles(hash, smaller, size, read))),
        ].map((place) => [tilePath(place), place] as const),
      ).values(),
    ];
    const tiles = await fetchTiles(places, signal);
    if (!tiles.ok) return all(tiles);

    const build = <T>(proof: (read: ReadTile) => T): T | null => {
      try {
        return proof(tiles.value);
      } catch (error) {
        if (error instanceof RangeError) return null; // a tile shorter than its tree: the log shows less than it signed
        throw error;
      }
    };
    if (seen !== null && lastSeen !== null && seen.size > 0n) {
      const proof = seen.size < size ? build((read) => consistencyProofFromTiles(crypto.sha256, seen.size, size, read)) : [];
      const [older, newer] = seen.size <= size ? [seen, checkpoint] : [checkpoint, seen];
      // A checkpoint that covers what was just added and is smaller than the last one seen is a second history by itself.
      if (proof === null) return all(retry("tile_short")); // not a second history: a page that came short
      if (seen.size > size || !isConsistent(crypto.sha256, older, newer, proof)) {
        return all({ ok: false, outcome: { ok: false, kind: "fork", evidence: { old: lastSeen.note, new: note } } });
      }
    }

    const outcomes: Outcome[] = [];
    for (const [at, submission] of batch.entries()) {
      const answer = added[at] as Answered<bigint>;
      if (!answer.ok) {
        outcomes.push(answer.outcome);
        continue;
      }
      const hashes = build((read) => inclusionProofFromTiles(crypto.sha256, answer.value, size, read));
      if (hashes === null) {
        outcomes.push(retry("tile_short").outcome);
        continue;
      }
      const receipt = receiptFor(submission, answer.value, note, checkpoint, hashes, submittedAt);
      const verdict = await verifyReceipt(crypto, receipt, utf8(submission.statement), { trust: ledger.trust });
      outcomes.push(
        verdict.ok
          ? { ok: true, receipt, seen: { size: size.toString(), root: base64Of(checkpoint.root), note } }
          : retry(`receipt_${verdict.fault}`).outcome,
      );
    }
    return outcomes;
  };

  return { id, role: ledger.role, mostPerBatch, prepare: async ({ statement }) => statement, submit };
};
