// An audit log: the transparency log that contains the audit chains of one shard's accounts. Only this object writes to these chains. It
// reads the change logs of all shards and adds each entry to its chain exactly once. It writes in synchronous transactions, so that
// concurrent calls never fork a chain. The object is named after its shard. For example, the object `00` signs as `<host>/audit/00`.
import type { ShardId } from "../../core/ids.ts";
import { getAuditOrigin } from "../../core/ledger/log-names.ts";
import { minuteMs, secondMs } from "../../core/time.ts";
import { backgroundTimeoutMs } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { Budget, proofsPerSecond, tooManyRequestsResponse } from "../transparency-log/budget.ts";
import { TransparencyLog, type TileEnv } from "../transparency-log/object.ts";
import {
  checkpointResponse,
  notFoundResponse,
  publicAccess,
  textResponse,
  proofResponse,
  tileResponse,
} from "../transparency-log/responses.ts";
import { ensureSignedCheckpoint, openLogKeys, type LogKeys } from "../transparency-log/signing.ts";
import { findFreezeReason, findMeta, setMeta, type SignedCheckpoint } from "../transparency-log/tables.ts";
import { logError } from "../error-log.ts";
import { drainShards, type DrainOutcome, type DrainResult } from "./drain.ts";
import { checkpointInterval, type IntervalCheckpoint } from "./intervals.ts";
import { auditLogSteps } from "./migrations.ts";
import {
  buildTrail,
  proveChainHead,
  proveEntries,
  type ChainHeadProof,
  type EntryProof,
  type ProofPorts,
  type TrailProof,
} from "./proofs.ts";
import * as tables from "./tables.ts";
import type { AppendOutcome, AuditRow, ChainPage, ChainPageQuery, StoredEntry } from "./tables.ts";

export interface AuditEnv extends TileEnv {
  /** The URL of the API. The log's name contains the host of this URL. */
  readonly BASE_URL?: string;
  /**
   * Secret keys in note format, separated by spaces. Each contains the name of a log, which then uses this key instead of a derived key.
   */
  readonly AUDIT_KEY?: string;
  readonly [name: string]: unknown;
}

const batchWindowMs = 50; // requests that arrive within this time are processed together
const retryMs = 15 * secondMs; // if the process dies or a shard fails, an alarm resumes the work after this delay
const frozenRetryMs = minuteMs; // a frozen log accepts no entries until an operator restores it, so it retries less often

export class AuditLog extends TransparencyLog<AuditEnv> {
  readonly #proofBudget = new Budget(proofsPerSecond);
  readonly #proofPorts: ProofPorts;
  #keys: Promise<LogKeys> | undefined;

  constructor(ctx: DurableObjectState, env: AuditEnv) {
    super(ctx, env, auditLogSteps);
    const { storage } = ctx;
    // When the platform starts an object for an alarm, `ctx.id.name` may be missing. The object therefore stores its name when it first
    // sees it.
    if (ctx.id.name !== undefined && findMeta(storage.sql, "shard") === null) setMeta(storage.sql, "shard", ctx.id.name);
    this.#proofPorts = {
      storage,
      openKeys: () => this.#openKeys(),
      getSignedCheckpoint: (covers) => this.#getSignedCheckpoint(covers),
    };
  }

  #getShard(): ShardId {
    const shard = findMeta(this.ctx.storage.sql, "shard");
    if (shard === null) throw new Error("the name of an audit log must be its shard");
    return shard as ShardId;
  }

  #openKeys(): Promise<LogKeys> {
    const { LOG_SEED: logSeed, AUDIT_KEY: secrets } = this.env;
    this.#keys ??= openLogKeys({ secrets, logSeed }, this.getOrigin());
    return this.#keys;
  }

  protected override getOrigin(): string {
    return getAuditOrigin(this.env.BASE_URL ?? "", this.#getShard());
  }

  async #getSignedCheckpoint(covers = 0): Promise<SignedCheckpoint | null> {
    const checkpoint = await ensureSignedCheckpoint(this.ctx.storage, await this.#openKeys(), Date.now, covers);
    await this.requestUpload();
    return checkpoint;
  }

  /** Keeps all tiles, because evidence packs need the tiles and hashes of old entries. */
  protected override getKeptTiles(): null {
    return null;
  }

  /** Appends each valid row to its chain unless the chain already contains it. If the log is frozen, returns null and changes nothing. */
  append(rows: readonly AuditRow[]): AppendOutcome | null {
    const { storage } = this.ctx;
    return storage.transactionSync(() => (findFreezeReason(storage.sql) === null ? tables.appendRows(storage.sql, rows) : null));
  }

  /**
   * Closes a 15-minute interval and returns its signed checkpoint. Repeated calls return the same checkpoint. Returns null if the log is
   * frozen.
   */
  checkpoint(interval: number, nowIso: string): Promise<IntervalCheckpoint | null> {
    return checkpointInterval(this.#proofPorts, interval, nowIso);
  }

  /** Returns a page of a chain, newest entry first, or null if the chain had no entries at the requested log size. */
  getChainPage(chain: string, query: ChainPageQuery): ChainPage | null {
    return tables.findChainPage(this.ctx.storage.sql, chain, query);
  }

  /**
   * Proves which entry of a chain is the newest, and that no entries are missing up to the newest record of heads. Uses the signed
   * checkpoint of size `atSize`. If `atSize` is null, waits for a checkpoint that covers the whole chain. This takes up to a second, or up
   * to three if other chains add records in the meantime. To read the entries that the proof covers, pass the returned `size` to
   * `getChainPage` as `belowSize`. Returns null if the chain had no entries at that size, or if there is no such checkpoint, for example
   * because the log is frozen.
   */
  proveChainHead(chain: string, atSize: number | null = null): Promise<ChainHeadProof | null> {
    return proveChainHead(this.#proofPorts, chain, atSize);
  }

  /**
   * Returns a tlog-proof for each of the chain's entries with these sequence numbers, in order. Omits missing entries. Returns null if the
   * log is frozen.
   */
  proveEntries(chain: string, seqs: readonly number[]): Promise<EntryProof[] | null> {
    return proveEntries(this.#proofPorts, chain, seqs);
  }

  /** Returns the entries that record these changes, oldest first. Omits changes that are not in the chain yet. */
  listEntries(chain: string, changeIds: readonly string[]): StoredEntry[] {
    return tables.listEntriesByChangeIds(this.ctx.storage.sql, chain, changeIds);
  }

  /**
   * Returns the same entries as `listEntries`, with proofs against the first checkpoint that covers all of them. Later calls therefore
   * return the same proofs until the log's keys change. If no heads record contains the chain yet, this adds one, unless the log is frozen.
   * Returns null if there are no entries, or if the log was frozen before it signed a checkpoint that covers them.
   */
  getTrail(chain: string, changeIds: readonly string[]): Promise<TrailProof | null> {
    return buildTrail(this.#proofPorts, chain, changeIds);
  }

  /** Schedules a drain (a read of the change logs) within 50 ms. Calls within these 50 ms share one alarm. */
  async requestDrain(): Promise<void> {
    const soon = Date.now() + batchWindowMs;
    const alarmAt = await this.ctx.storage.getAlarm();
    if (alarmAt === null || alarmAt > soon) await this.ctx.storage.setAlarm(soon);
  }

  /**
   * Appends entries that were committed before the call, in one shard or in all shards. Call it before reading entries that you have just
   * committed. `hasMore` is true if there are more entries than one call can append. Returns null if the log is frozen. Rejects if a shard
   * fails.
   */
  async drainNow(shard: ShardId | null = null): Promise<DrainResult | null> {
    const { result, fault } = await this.#drain(shard);
    if (fault !== null) throw fault;
    return result;
  }

  async #drain(only: ShardId | null): Promise<DrainOutcome> {
    if (findFreezeReason(this.ctx.storage.sql) !== null) return { result: null, fault: null };
    const shards = openShards(this.env, backgroundTimeoutMs)
      .all()
      .filter(([shard]) => only === null || shard === only);
    return drainShards(shards, { auditLog: this.#getShard(), append: (rows) => this.append(rows) });
  }

  /**
   * Reads the change logs of all shards. Uploads full tiles in the background, so that R2 does not delay the next alarm. Does not reject if
   * a shard fails, because the platform retries a failing alarm six times and then drops it.
   */
  override async alarm(): Promise<void> {
    const { storage } = this.ctx;
    const retryAt = Date.now() + retryMs;
    await storage.setAlarm(retryAt);
    try {
      const { result, fault } = await this.#drain(null);
      if (result === null) await storage.setAlarm(Date.now() + frozenRetryMs);
      else if (result.hasMore) await storage.setAlarm(Date.now());
      // If the alarm time has changed, a call set the alarm during this run. Keep that alarm, because this run may have missed new entries.
      else if (fault === null && (await storage.getAlarm()) === retryAt) await storage.deleteAlarm();
    } catch (error) {
      logError("audit-log.alarm", error);
    }
    this.ctx.waitUntil(this.#uploadTiles());
  }

  async #uploadTiles(): Promise<void> {
    await this.getArchive()?.run();
    await this.requestUpload();
  }

  /** Serves the public part of the log, which contains only hashes. */
  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const base = `/audit/${this.#getShard()}/`;
    if (request.method !== "GET" && request.method !== "HEAD")
      return textResponse(405, "The method must be GET or HEAD.\n", { Allow: "GET, HEAD" });
    if (!pathname.startsWith(base)) return notFoundResponse();
    const page = await this.#servePage(pathname.slice(base.length), searchParams);
    return request.method === "GET" ? page : new Response(null, page);
  }

  async #servePage(path: string, query: URLSearchParams): Promise<Response> {
    const { sql } = this.ctx.storage;
    if (path === "checkpoint") return checkpointResponse(await this.#getSignedCheckpoint());
    if (path === "proof")
      return this.#proofBudget.take(1, Date.now()) ? proofResponse(sql, query, this.getRemovedTiles()) : tooManyRequestsResponse();
    return path.startsWith("tile/") ? tileResponse(sql, path, publicAccess, this.getRemovedTiles()) : notFoundResponse();
  }
}
