// The embedded ledger: a transparency log that anyone can check. Adding entries requires the write token. Each shard has its own ledger.
// The service calls the ledger only over HTTP, so another company can run the same object in its own account with its own key.
import { decodeUtf8, readBytesUpTo } from "../../core/bytes.ts";
import { isTlogOrigin } from "../../core/ledger/checkpoint.ts";
import { parseLedgerOrigin } from "../../core/ledger/log-names.ts";
import { computeEntryKey } from "../../core/ledger/statement.ts";
import { parseEntryBundle, isValidEntry } from "../../core/ledger/tiles.ts";
import { Budget, proofsPerSecond, tooManyRequestsResponse } from "../transparency-log/budget.ts";
import { TransparencyLog } from "../transparency-log/object.ts";
import {
  checkpointResponse,
  frozenResponse,
  notFoundResponse,
  textResponse,
  proofResponse,
  tileResponse,
} from "../transparency-log/responses.ts";
import { ensureSignedCheckpoint } from "../transparency-log/signing.ts";
import { uploadDelayMs } from "../transparency-log/tile-archive.ts";
import { appendLeaves, findFreezeReason, findMeta, findNewestCheckpoint, setMeta } from "../transparency-log/tables.ts";
import { authorize, createReadAccess, listWatchedKeys, openLedgerKeys, type LedgerEnv, type LedgerKeys } from "./access.ts";
import { ledgerLogSteps } from "./migrations.ts";
import { cosignCheckpoint } from "./witness.ts";

const maxEntryBytes = 65_535; // the largest length that fits in the uint16 prefix of an entry
const maxBatchEntries = 256; // the number of entries in a full tile
const maxBatchBytes = 1_048_576;
const maxCheckpointBytes = 65_536; // a proof has at most 63 lines (about 3 KiB), and the rest is for signatures
const defaultEntriesPerSecond = 2_000; // about two thirds of what one object can append on a small machine
// The number of newest level-0 tiles to keep. They contain about one hour of entries at 79 per second and take about 80 MB. Witnesses and
// the service compare the newest tree with trees that are up to an hour old. These comparisons then do not need R2.
const defaultKeptTiles = 1_024;

const notConfiguredResponse = (): Response => textResponse(503, "The ledger is not configured.\n");
const methodNotAllowedResponse = (allow: string): Response =>
  textResponse(405, `The method must be ${allow.replace(", ", " or ")}.\n`, { Allow: allow });

export class LedgerLog extends TransparencyLog<LedgerEnv> {
  readonly #entries: Budget;
  readonly #proofs = new Budget(proofsPerSecond);
  #keys: Promise<LedgerKeys | null> | undefined;

  constructor(ctx: DurableObjectState, env: LedgerEnv) {
    super(ctx, env, ledgerLogSteps);
    this.#entries = new Budget(Number(env.LEDGER_ENTRIES_PER_SECOND) || defaultEntriesPerSecond);
  }

  override async fetch(request: Request): Promise<Response> {
    const origin = this.getOrigin();
    if (origin === null) return notConfiguredResponse();
    const url = new URL(request.url);
    const base = origin.slice(origin.indexOf("/")); // the path of the log, such as /ledger/2026h2
    if (!url.pathname.startsWith(`${base}/`)) return notFoundResponse();
    const path = url.pathname.slice(base.length + 1);
    const { method } = request;

    if (path === "add" || path === "add-batch" || path === "add-checkpoint") {
      if (method !== "POST") return methodNotAllowedResponse("POST");
      if (path === "add-checkpoint") return this.#isWitness(origin) ? this.#cosign(request) : notFoundResponse();
      return path === "add" ? this.#addEntry(request) : this.#addBatch(request);
    }
    if (method !== "GET" && method !== "HEAD") return methodNotAllowedResponse("GET, HEAD");
    const page = await this.#serveRead(request, origin, path, url.searchParams);
    return method === "GET" ? page : new Response(null, page);
  }

  protected override getKeptTiles(): number {
    return Number(this.env.DEV_KEPT_TILES) || defaultKeptTiles;
  }

  /** Uploads full tiles and deletes old ones. The next alarm is set first, so that the work continues if the process dies. */
  override async alarm(): Promise<void> {
    const { storage } = this.ctx;
    const archive = this.getArchive();
    if (archive === null) return;
    await storage.setAlarm(Date.now() + uploadDelayMs);
    await archive.run();
    const nextAt = archive.findNextRunAt();
    if (nextAt === null) await storage.deleteAlarm();
    else await storage.setAlarm(nextAt);
  }

  /**
   * Returns the log's name: the object's name if that is a valid ledger name, otherwise LEDGER_ORIGIN. Stores the name on the first call.
   * Returns null if no name is stored and the ledger is not configured.
   */
  protected override getOrigin(): string | null {
    const { sql } = this.ctx.storage;
    const stored = findMeta(sql, "origin");
    if (stored !== null) return stored;
    const { LEDGER_ORIGIN: configured = "", LEDGER_KEY: secrets = "", LOG_SEED: logSeed = "" } = this.env;
    if (!isTlogOrigin(configured) || secrets + logSeed === "") return null;
    const { name = "" } = this.ctx.id;
    const origin = parseLedgerOrigin(configured, name) === null ? configured : name;
    setMeta(sql, "origin", origin);
    return origin;
  }

  /**
   * A log is closed if LEDGER_ORIGIN has changed since the log was created. A closed log can be read, but it accepts no entries and signs
   * nothing.
   */
  #isClosed(origin: string): boolean {
    return parseLedgerOrigin(this.env.LEDGER_ORIGIN ?? "", origin) === null;
  }

  /**
   * Returns true for the first shard's current ledger, which is the only witness. Each object knows only the trees that it has cosigned
   * itself. If several objects cosigned with the same key, they could cosign two histories of one audit log.
   */
  #isWitness(origin: string): boolean {
    return origin === this.env.LEDGER_ORIGIN;
  }

  /** Logs an error and returns null if the log has no key or a secret is malformed. */
  #openKeys(): Promise<LedgerKeys | null> {
    this.#keys ??= openLedgerKeys(this.env, this.getOrigin() ?? "").catch((error: unknown) => {
      console.error(JSON.stringify({ level: "error", at: "ledger-log.keys", error: error instanceof Error ? error.message : "unknown" }));
      return null;
    });
    return this.#keys;
  }

  /** Returns 503 if the log accepts no entries because it is closed or frozen, otherwise null. */
  #closedResponse(): Response | null {
    if (this.#isClosed(this.getOrigin() ?? "")) return textResponse(503, "This log is closed. Add entries to its successor.\n");
    return findFreezeReason(this.ctx.storage.sql) === null ? null : frozenResponse();
  }

  #append(entries: readonly Uint8Array[]): number[] {
    const leaves = entries.map((entry) => ({ dedupeKey: computeEntryKey(entry), entry }));
    const { storage } = this.ctx;
    return storage.transactionSync(() => appendLeaves(storage.sql, leaves));
  }

  /** Adds an entry and returns its index. Repeating a call with the same bytes returns the same index. */
  async #addEntry(request: Request): Promise<Response> {
    const refusal = authorize(this.env, request, "write");
    if (refusal !== null) return refusal;
    const entry = await readBytesUpTo(request.body as ReadableStream<Uint8Array> | null, maxEntryBytes);
    if (entry === null) return textResponse(413, `An entry must have at most ${maxEntryBytes} bytes.\n`);
    if (!isValidEntry(entry)) return textResponse(400, "An entry must have at least one byte.\n");
    if (!this.#entries.take(1, Date.now())) return tooManyRequestsResponse();
    return this.#closedResponse() ?? textResponse(200, String(this.#append([entry])[0]));
  }

  /** Like `#addEntry`, for a bundle of at most 256 entries and 1 MiB. Adds all entries or none. */
  async #addBatch(request: Request): Promise<Response> {
    const refusal = authorize(this.env, request, "write");
    if (refusal !== null) return refusal;
    const body = await readBytesUpTo(request.body as ReadableStream<Uint8Array> | null, maxBatchBytes);
    if (body === null) return textResponse(413, `A batch must have at most ${maxBatchBytes} bytes.\n`);
    const entries = parseEntryBundle(body);
    if (entries === null || entries.length === 0 || !entries.every(isValidEntry))
      return textResponse(400, "The body must be a bundle of entries.\n");
    if (entries.length > maxBatchEntries) return textResponse(413, `A batch must have at most ${maxBatchEntries} entries.\n`);
    if (!this.#entries.take(entries.length, Date.now())) return tooManyRequestsResponse();
    const closed = this.#closedResponse();
    if (closed !== null) return closed;
    return textResponse(200, JSON.stringify({ indices: this.#append(entries).map(String) }), { "Content-Type": "application/json" });
  }

  async #cosign(request: Request): Promise<Response> {
    if (!this.#proofs.take(1, Date.now())) return tooManyRequestsResponse();
    const body = await readBytesUpTo(request.body as ReadableStream<Uint8Array> | null, maxCheckpointBytes);
    if (body === null) return textResponse(413, `A request must have at most ${maxCheckpointBytes} bytes.\n`);
    const keys = await this.#openKeys();
    if (keys === null) return notConfiguredResponse();
    if (keys.witness === null) return notFoundResponse();
    return cosignCheckpoint(
      this.ctx.storage,
      decodeUtf8(body) ?? "",
      (origin) => listWatchedKeys(this.env, origin),
      keys.witness,
      Date.now,
    );
  }

  async #serveRead(request: Request, origin: string, path: string, query: URLSearchParams): Promise<Response> {
    const { sql } = this.ctx.storage;
    const removed = this.getRemovedTiles();
    if (path.startsWith("tile/")) return tileResponse(sql, path, createReadAccess(this.env, request), removed);
    if (path !== "checkpoint" && path !== "proof") return notFoundResponse();
    if (path === "proof" && !this.#proofs.take(1, Date.now())) return tooManyRequestsResponse();
    if (this.#isClosed(origin))
      return path === "proof" ? proofResponse(sql, query, removed) : checkpointResponse(findNewestCheckpoint(sql));
    const keys = await this.#openKeys();
    if (keys === null) return notConfiguredResponse();
    const checkpoint = await ensureSignedCheckpoint(this.ctx.storage, keys.log, Date.now);
    await this.requestUpload();
    return path === "checkpoint" ? checkpointResponse(checkpoint) : proofResponse(sql, query, removed);
  }
}
