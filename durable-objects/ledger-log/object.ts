// The embedded ledger: a transparency log that anyone may check and only its service may write to, spoken to over HTTP alone.
// It knows nothing of the service, so the same object runs in another account, under another company's key:
//   LEDGER_ORIGIN          its name: host and path, no scheme; requests are expected below that path
//   LEDGER_KEY             its note-format secret; two, separated by a space, while one replaces the other
//   LEDGER_WRITE_TOKEN     who may add entries            LEDGER_AUDITOR_TOKEN   who may read them
//   LEDGER_PUBLIC_ENTRIES  "true": anybody may read them  LEDGER_WITNESS_KEY     secret that cosigns other logs
//   AUDIT_VKEY             public keys of those other logs, separated by spaces, each with its time behind it where it has one
//   LEDGER_ENTRIES_PER_SECOND  accepted before 429
import { readBytesUpTo } from "../../core/bytes.ts";
import { isEqualConstantTime, sha256 } from "../../core/hash.ts";
import { isTlogOrigin } from "../../core/ledger/checkpoint.ts";
import { isKeyInUse, parseKeyWithValidity } from "../../core/ledger/key-validity.ts";
import { keyKinds, parseVkey, type NoteSigner, type VerifierKey } from "../../core/ledger/note.ts";
import { computeEntryKey } from "../../core/ledger/statement.ts";
import { parseEntryBundle, isValidEntry } from "../../core/ledger/tiles.ts";
import { openNoteSigner } from "../../storage/note-keys.ts";
import { Budget, proofsPerSecond, tooManyRequestsResponse } from "../transparency-log/budget.ts";
import {
  checkpointResponse,
  frozenResponse,
  notFoundResponse,
  textResponse,
  proofResponse,
  tileResponse,
} from "../transparency-log/responses.ts";
import { appendLeaves, findFreezeReason, findMeta, findNewestCheckpoint, setMeta } from "../transparency-log/tables.ts";
import { openLogKeys, ensureSignedCheckpoint, TransparencyLog, type LogKeys } from "../transparency-log/object.ts";
import { ledgerLogSteps } from "./migrations.ts";
import { cosignCheckpoint } from "./witness.ts";

export interface LedgerEnv {
  readonly LEDGER_ORIGIN?: string;
  readonly LEDGER_KEY?: string;
  readonly LEDGER_WRITE_TOKEN?: string;
  readonly LEDGER_AUDITOR_TOKEN?: string;
  readonly LEDGER_PUBLIC_ENTRIES?: string;
  readonly LEDGER_WITNESS_KEY?: string;
  readonly AUDIT_VKEY?: string;
  readonly LEDGER_ENTRIES_PER_SECOND?: string;
}

const maxEntryBytes = 65_535; // what a bundle's uint16 can say
const maxBatchEntries = 256; // one tile
const maxBatchBytes = 1_048_576;
const maxCheckpointBytes = 65_536; // 63 proof lines are 3 KiB; the rest is room for signatures
const defaultEntriesPerSecond = 2_000; // about two thirds of what one object appends on a small machine

/** Null for bytes that are not UTF-8. */
const decodeUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};

const notConfiguredResponse = (): Response => textResponse(503, "The ledger is not configured.\n");
const unauthorizedResponse = (): Response => textResponse(401, "A token is needed.\n", { "WWW-Authenticate": "Bearer" });
const forbiddenResponse = (): Response => textResponse(403, "This token is not for this.\n");
const methodNotAllowedResponse = (allow: string): Response => textResponse(405, `Only ${allow}.\n`, { Allow: allow });

type AccessRight = "write" | "audit";

interface LedgerKeys {
  readonly log: LogKeys;
  readonly witness: NoteSigner | null;
}

/** Throws, naming the setting and never its value. */
const openLedgerKeys = async (env: LedgerEnv): Promise<LedgerKeys> => {
  const log = await openLogKeys(env.LEDGER_KEY ?? "");
  if (log.origin !== env.LEDGER_ORIGIN) throw new Error("LEDGER_KEY is the key of another log than LEDGER_ORIGIN");
  const witness = env.LEDGER_WITNESS_KEY ? await openNoteSigner(env.LEDGER_WITNESS_KEY) : null;
  if (witness !== null && witness.key.kind !== keyKinds.witness) throw new Error("LEDGER_WITNESS_KEY is not the key of a witness");
  return { log, witness };
};

export class LedgerLog extends TransparencyLog<LedgerEnv> {
  readonly #entries: Budget;
  readonly #proofs = new Budget(proofsPerSecond);
  #keys: Promise<LedgerKeys | null> | undefined;

  constructor(ctx: DurableObjectState, env: LedgerEnv) {
    super(ctx, env, ledgerLogSteps);
    this.#entries = new Budget(Number(env.LEDGER_ENTRIES_PER_SECOND) || defaultEntriesPerSecond);
  }

  override async fetch(request: Request): Promise<Response> {
    const origin = this.#getOrigin();
    if (origin === null) return notConfiguredResponse();
    const url = new URL(request.url);
    const base = origin.slice(origin.indexOf("/")); // the path of the name, e.g. /ledger/2026h2
    if (!url.pathname.startsWith(`${base}/`)) return notFoundResponse();
    const path = url.pathname.slice(base.length + 1);
    const { method } = request;

    if (path === "add" || path === "add-batch" || path === "add-checkpoint") {
      if (method !== "POST") return methodNotAllowedResponse("POST");
      if (path === "add-checkpoint") return this.#cosign(request);
      return path === "add" ? this.#addEntry(request) : this.#addBatch(request);
    }
    if (method !== "GET" && method !== "HEAD") return methodNotAllowedResponse("GET, HEAD");
    const page = await this.#serveRead(request, origin, path, url.searchParams);
    return method === "GET" ? page : new Response(null, page);
  }

  /** The name this log was started under. Configured for another one, it is a log of the past: read, never written or signed. */
  #getOrigin(): string | null {
    const { sql } = this.ctx.storage;
    const started = findMeta(sql, "origin");
    if (started !== null) return started;
    const { LEDGER_ORIGIN: origin, LEDGER_KEY: key } = this.env;
    if (origin === undefined || !isTlogOrigin(origin) || key === undefined || key === "") return null;
    setMeta(sql, "origin", origin);
    return origin;
  }

  /** Null when the secrets are not those of a log of this name and of a witness: then nothing is signed. */
  #openKeys(): Promise<LedgerKeys | null> {
    this.#keys ??= openLedgerKeys(this.env).catch((error: unknown) => {
      console.error(JSON.stringify({ level: "error", at: "ledger-log.keys", error: error instanceof Error ? error.message : "unknown" }));
      return null;
    });
    return this.#keys;
  }

  #getAccessRight(request: Request): AccessRight | null {
    const token = /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.get("Authorization") ?? "")?.[1];
    const { LEDGER_WRITE_TOKEN: write, LEDGER_AUDITOR_TOKEN: audit } = this.env;
    if (token === undefined) return null;
    if (write !== undefined && write !== "" && isEqualConstantTime(token, write)) return "write";
    if (audit !== undefined && audit !== "" && isEqualConstantTime(token, audit)) return "audit";
    return null;
  }

  #authorize(request: Request, needed: AccessRight): Response | null {
    const right = this.#getAccessRight(request);
    return right === needed ? null : right === null ? unauthorizedResponse() : forbiddenResponse();
  }

  /** 503 for a log that must not grow: frozen, or of the past. */
  #closedResponse(): Response | null {
    if (this.#getOrigin() !== this.env.LEDGER_ORIGIN) return textResponse(503, "This log is closed. Its successor has another address.\n");
    return findFreezeReason(this.ctx.storage.sql) === null ? null : frozenResponse();
  }

  #append(entries: readonly Uint8Array[]): number[] {
    const leaves = entries.map((entry) => ({ dedupeKey: computeEntryKey(entry), entry }));
    const { storage } = this.ctx;
    return storage.transactionSync(() => appendLeaves(storage.sql, leaves, Date.now()));
  }

  /** 401 and 403, 413, 400, 429, 503; else the decimal index: the same one whenever the same bytes come. */
  async #addEntry(request: Request): Promise<Response> {
    const refusal = this.#authorize(request, "write");
    if (refusal !== null) return refusal;
    const entry = await readBytesUpTo(request.body as ReadableStream<Uint8Array> | null, maxEntryBytes);
    if (entry === null) return textResponse(413, `An entry has at most ${maxEntryBytes} bytes.\n`);
    if (!isValidEntry(entry)) return textResponse(400, "An entry has at least one byte.\n");
    if (!this.#entries.take(1, Date.now())) return tooManyRequestsResponse();
    return this.#closedResponse() ?? textResponse(200, String(this.#append([entry])[0]));
  }

  /** As `add`, for a bundle of at most 256 entries and 1 MiB; all are added or none. */
  async #addBatch(request: Request): Promise<Response> {
    const refusal = this.#authorize(request, "write");
    if (refusal !== null) return refusal;
    const body = await readBytesUpTo(request.body as ReadableStream<Uint8Array> | null, maxBatchBytes);
    if (body === null) return textResponse(413, `A batch has at most ${maxBatchBytes} bytes.\n`);
    const entries = parseEntryBundle(body);
    if (entries === null || entries.length === 0 || !entries.every(isValidEntry))
      return textResponse(400, "The body is not a bundle of entries.\n");
    if (entries.length > maxBatchEntries) return textResponse(413, `A batch has at most ${maxBatchEntries} entries.\n`);
    if (!this.#entries.take(entries.length, Date.now())) return tooManyRequestsResponse();
    const closed = this.#closedResponse();
    if (closed !== null) return closed;
    return textResponse(200, JSON.stringify({ indices: this.#append(entries).map(String) }), { "Content-Type": "application/json" });
  }

  async #cosign(request: Request): Promise<Response> {
    if (!this.#proofs.take(1, Date.now())) return tooManyRequestsResponse();
    const body = await readBytesUpTo(request.body as ReadableStream<Uint8Array> | null, maxCheckpointBytes);
    if (body === null) return textResponse(413, `A request has at most ${maxCheckpointBytes} bytes.\n`);
    const keys = await this.#openKeys();
    if (keys === null) return notConfiguredResponse();
    if (keys.witness === null) return notFoundResponse();
    return cosignCheckpoint(this.ctx.storage, decodeUtf8(body) ?? "", this.#watchedKeys(), keys.witness, Date.now);
  }

  #watchedKeys(): VerifierKey[] {
    return (this.env.AUDIT_VKEY ?? "")
      .split(/\s+/)
      .map(parseKeyWithValidity)
      .filter((one) => one !== null && isKeyInUse(one, new Date().toISOString()))
      .map((one) => parseVkey(sha256, one?.key ?? ""))
      .filter((key): key is VerifierKey => key?.kind === keyKinds.log);
  }

  async #serveRead(request: Request, origin: string, path: string, query: URLSearchParams): Promise<Response> {
    const { sql } = this.ctx.storage;
    if (path.startsWith("tile/")) {
      const entriesArePublic = this.env.LEDGER_PUBLIC_ENTRIES === "true";
      return tileResponse(sql, path, {
        entriesArePublic,
        entriesRefusal: () => (entriesArePublic ? null : this.#authorize(request, "audit")),
      });
    }
    if (path !== "checkpoint" && path !== "proof") return notFoundResponse();
    if (path === "proof" && !this.#proofs.take(1, Date.now())) return tooManyRequestsResponse();
    if (origin !== this.env.LEDGER_ORIGIN)
      return path === "proof" ? proofResponse(sql, query) : checkpointResponse(findNewestCheckpoint(sql));
    const keys = await this.#openKeys();
    if (keys === null) return notConfiguredResponse();
    const checkpoint = await ensureSignedCheckpoint(this.ctx.storage, keys.log, Date.now);
    return path === "checkpoint" ? checkpointResponse(checkpoint) : proofResponse(sql, query);
  }
}
