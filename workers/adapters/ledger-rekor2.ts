// The ledger adapter for Sigstore's Rekor v2. A private instance can be the primary ledger. The public instance can only be a mirror for
// checkpoints. The adapter does not trust responses. An outcome is `ok` only if a tree contains the statement's signature, a pinned key has
// signed the tree, and the tree is consistent with the last tree seen.
import { toBase64, fromBase64Url, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import type { LedgerFailure, LedgerAdapter, SubmissionOutcome, VerifiedTree, LedgerSubmission } from "../../core/ledger/adapter.ts";
import { ecdsaRawToDer } from "../../core/ledger/der.ts";
import { buildInclusionProof, parseCount } from "../../core/ledger/merkle.ts";
import type { NoteCrypto } from "../../core/ledger/note.ts";
import { verifyRekorCheckpoint, verifyRekorReceipt } from "../../core/ledger/rekor-receipt.ts";
import {
  parseAnchorPrivateKey,
  parseRekorResponse,
  parseRekorRequest,
  formatRekorLeaf,
  formatRekorRequest,
  type RekorResponse,
  type RekorCrypto,
} from "../../core/ledger/rekor.ts";
import { filterKeysInUse, buildReceipt } from "../../core/ledger/receipt.ts";
import { isSignedBy, encodeP256Spki } from "../../core/ledger/spki.ts";
import { buildInclusionProofFromTiles, listTilesRead } from "../../core/ledger/tiles.ts";
import { toIso, secondMs, type Clock } from "../../core/time.ts";
import {
  checkHistory,
  mapConcurrently,
  createLogReader,
  createTileStore,
  toSeenTree,
  type LedgerEndpoint,
  type VerifiedCheckpoint,
  type ReadPath,
} from "./log-reader.ts";
import { sendWithLimits, permanentFailure, failureFromResponse, retryableFailure, type SendRequest } from "./exchange.ts";

export interface AnchorKey {
  /** The public key as SPKI, in base64. */
  readonly publicKey: string;
  /** Returns an ECDSA signature in DER, which is different for each call. */
  readonly sign: (message: Uint8Array) => Promise<Uint8Array>;
}

/** Opens a P-256 private key from base64 PKCS #8 or a JWK. Throws for any other input. */
export const openAnchorKey = async (secret: string): Promise<AnchorKey> => {
  const parsed = parseAnchorPrivateKey(secret);
  if (parsed === null) throw new Error("anchor key: must be a P-256 private key as PKCS #8 or JWK");
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key =
    parsed.format === "pkcs8"
      ? await crypto.subtle.importKey("pkcs8", parsed.pkcs8, algorithm, true, ["sign"])
      : await crypto.subtle.importKey("jwk", parsed.jwk, algorithm, true, ["sign"]);
  const { x, y } = (await crypto.subtle.exportKey("jwk", key)) as { x?: string; y?: string };
  const [pointX, pointY] = [x ?? "", y ?? ""].map(fromBase64Url);
  if (pointX?.length !== 32 || pointY?.length !== 32) throw new Error("anchor key: the runtime returned no public key");
  return {
    publicKey: toBase64(encodeP256Spki(pointX, pointY)),
    sign: async (message) =>
      ecdsaRawToDer(new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, new Uint8Array(message)))),
  };
};

/** Adds ECDSA verification for Rekor receipts to the Ed25519 functions for notes. */
export const createRekorCrypto = (noteCrypto: NoteCrypto): RekorCrypto => ({
  ...noteCrypto,
  verifyEcdsa: (spki, message, signature) => isSignedBy(crypto.subtle, spki, { hash: "SHA-256", signature, data: message }),
});

/** Each Rekor shard is a separate ledger. The shard's host is the ledger's origin. */
export interface RekorLedger extends LedgerEndpoint {
  /** The public parts of earlier anchor keys. A pending submission may still be signed with one of them. */
  readonly retiredAnchorKeys: readonly string[];
}

const postTimeoutMs = 30 * secondMs; // Rekor responds only after its next checkpoint; Sigstore recommends at least 20 s
const readTimeoutMs = 10 * secondMs;
const maxResponseBytes = 65_536;
const maxConcurrentPosts = 5;
const maxPerBatch = 5; // one round of requests takes at most 30 s of the 40 s that anchoring allows, so time is left for verification

type LoggedEntry = { readonly ok: true; readonly rekorResponse: RekorResponse; readonly submittedAt: number };

export const createRekorAdapter = (
  ledger: RekorLedger,
  anchorKey: AnchorKey,
  send: SendRequest,
  noteCrypto: NoteCrypto,
  clock: Clock,
): LedgerAdapter => {
  const crypto = createRekorCrypto(noteCrypto);
  const id = `rekor2:${ledger.origin}`;
  const trust = { logs: ledger.trust, anchorKeys: [anchorKey.publicKey, ...ledger.retiredAnchorKeys] };

  const read: ReadPath = (path, maxBytes, signal) =>
    sendWithLimits(send, `${ledger.baseUrl}/api/v2/${path}`, {}, { timeoutMs: readTimeoutMs, maxBytes, signal });

  /** Fetches the newest checkpoint and verifies it with the keys that are valid now. */
  const getNewestCheckpoint = async (signal: AbortSignal): Promise<({ readonly ok: true } & VerifiedCheckpoint) | LedgerFailure> => {
    const sent = await read("checkpoint", maxResponseBytes, signal);
    if (!sent.ok) return sent;
    if (sent.response.status !== 200) return failureFromResponse(sent.response, clock);
    const note = new TextDecoder().decode(sent.response.body);
    const verdict = await verifyRekorCheckpoint(crypto, note, filterKeysInUse(ledger.trust, toIso(clock())));
    if (!verdict.ok) return retryableFailure(verdict.fault);
    return verdict.checkpoint.origin === ledger.origin
      ? { ok: true, note, checkpoint: verdict.checkpoint }
      : retryableFailure("origin_mismatch");
  };

  /** Finds an entry that Rekor already has. Rekor's 409 response contains only the index, so the proof is built from tiles. */
  const findLoggedEntry = async (index: bigint, leaf: Uint8Array, signal: AbortSignal): Promise<RekorResponse | LedgerFailure> => {
    const covering = await getNewestCheckpoint(signal);
    if (!covering.ok) return covering;
    const { note, checkpoint } = covering;
    const { size } = checkpoint;
    if (index >= size) return retryableFailure("not_in_checkpoint");
    const tiles = createTileStore(read, signal);
    const refused = await tiles.load(listTilesRead(size, (nodes) => buildInclusionProof(index, size, nodes)));
    return refused ?? { index, leaf, hashes: buildInclusionProofFromTiles(index, size, tiles.read), note };
  };

  /**
   * Sends the request that `prepare` built. A retry must send the same bytes, so this function never builds one itself. It throws if the
   * submission has none.
   */
  const submitEntry = async ({ prepared }: LedgerSubmission, signal: AbortSignal): Promise<LoggedEntry | LedgerFailure> => {
    const entry = parseRekorRequest(prepared ?? "");
    if (prepared === null || entry === null) throw new Error("rekor: the submission is not prepared");
    const leaf = encodeUtf8(formatRekorLeaf(entry));
    const submittedAt = clock();
    const headers = { "content-type": "application/json", accept: "application/json" };
    const limits = { timeoutMs: postTimeoutMs, maxBytes: maxResponseBytes, signal };
    const sent = await sendWithLimits(send, `${ledger.baseUrl}/api/v2/log/entries`, { method: "POST", headers, body: prepared }, limits);
    if (!sent.ok) return sent;
    const { status, body, headers: responseHeaders } = sent.response;
    if (status === 409) {
      const index = parseCount(responseHeaders.get("x-log-index") ?? "");
      const found = index === null ? retryableFailure("answer_malformed") : await findLoggedEntry(index, leaf, signal);
      return "ok" in found ? found : { ok: true, rekorResponse: found, submittedAt };
    }
    if (status === 405) return permanentFailure("frozen"); // this Rekor shard is closed, and its successor is a separate ledger
    if (status !== 201) return failureFromResponse(sent.response, clock);
    const response = parseRekorResponse(body);
    if (response === null) return retryableFailure("answer_malformed");
    // The leaf in the response must equal the leaf built from our own request.
    return toBase64(response.leaf) === toBase64(leaf)
      ? { ok: true, rekorResponse: response, submittedAt }
      : retryableFailure("receipt_leaf_mismatch");
  };

  /**
   * Verifies the receipt, and checks that its tree is consistent with the last tree seen. Either of the two trees can be the larger one.
   */
  const verifyEntry = async (
    { statement }: LedgerSubmission,
    { rekorResponse, submittedAt }: LoggedEntry,
    lastSeen: VerifiedTree | null,
    signal: AbortSignal,
  ): Promise<SubmissionOutcome> => {
    const times = { submittedAt, verifiedAt: Math.max(clock(), submittedAt) };
    const signed = await verifyRekorCheckpoint(crypto, rekorResponse.note, filterKeysInUse(ledger.trust, toIso(times.verifiedAt)));
    if (!signed.ok) return retryableFailure(signed.fault);
    const { checkpoint } = signed;
    const receipt = buildReceipt(statement, { kind: "rekor2", origin: ledger.origin, checkpoint, ...rekorResponse, ...times });
    const verdict = await verifyRekorReceipt(crypto, receipt, encodeUtf8(statement), trust);
    if (!verdict.ok) return retryableFailure(`receipt_${verdict.fault}`);
    const now = { note: receipt.signed_root, checkpoint: verdict.checkpoint };
    const fault = await checkHistory(createTileStore(read, signal), lastSeen, now);
    return fault ?? { ok: true, receipt, verifiedTree: toSeenTree(now) };
  };

  return {
    id,
    origin: ledger.origin,
    role: ledger.role,
    maxPerBatch,
    prepare: async ({ prepared, statement }) => {
      if (prepared !== null) return prepared;
      const bytes = encodeUtf8(statement);
      return formatRekorRequest({
        digest: toBase64(sha256(bytes)),
        signature: toBase64(await anchorKey.sign(bytes)),
        publicKey: anchorKey.publicKey,
      });
    },
    submit: async (batch, lastSeen, signal) => {
      const entries = await mapConcurrently(batch, maxConcurrentPosts, (submission) => submitEntry(submission, signal));
      const outcomes: SubmissionOutcome[] = [];
      let newestTree = lastSeen;
      // Verify the entries one at a time, each against the largest tree so far. Otherwise, a fork between two trees of the same batch would
      // go unnoticed.
      for (const [at, submission] of batch.entries()) {
        const entry = entries[at] as LoggedEntry | LedgerFailure;
        const outcome = entry.ok ? await verifyEntry(submission, entry, newestTree, signal) : entry;
        if (outcome.ok && (parseCount(outcome.verifiedTree.size) ?? 0n) > (parseCount(newestTree?.size ?? "0") ?? 0n))
          newestTree = outcome.verifiedTree;
        outcomes.push(outcome);
      }
      return outcomes;
    },
    ...createLogReader(read, getNewestCheckpoint),
  };
};
