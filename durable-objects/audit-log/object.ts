// One object a shard of the audit chains, and their only writer: entries come from the outboxes of the databases, each joins
// its chain exactly once, and one log holds them all. An object named `0` signs as `<host>/audit/0`.
//   AUDIT_KEY   note-format secrets, separated by spaces; those whose name ends in `/audit/<shard>` are this object's
// Appending is one synchronous transaction, so however many call at once, a chain never forks.
import { toHex } from "../../core/bytes.ts";
import type { AuditProof, HeadsProof } from "../../core/audit/proof.ts";
import type { ShardId } from "../../core/ids.ts";
import type { CheckpointSubject } from "../../core/ledger/statement.ts";
import { minuteMs, secondMs } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { markDrained, listUndrainedRows } from "../../storage/outboxes/audit.ts";
import { openShards } from "../../storage/shards.ts";
import { backgroundTimeoutMs } from "../../storage/database.ts";
import { Budget, proofsPerSecond, tooManyRequestsResponse } from "../transparency-log/budget.ts";
import { checkpointResponse, notFoundResponse, textResponse, proofResponse, tileResponse } from "../transparency-log/responses.ts";
import { auditLogSteps } from "./migrations.ts";
import * as tables from "./tables.ts";
import type { AppendOutcome, AuditRow, ChainPage, ChainState, ClosedInterval, StoredEntry } from "./tables.ts";
import {
  findCheckpoint,
  findFreezeReason,
  findMeta,
  findOldestCheckpointCovering,
  setMeta,
  type SignedCheckpoint,
} from "../transparency-log/tables.ts";
import {
  isSignedByAll,
  openLogKeys,
  ensureSignedCheckpoint,
  buildTlogProof,
  TransparencyLog,
  type LogKeys,
} from "../transparency-log/object.ts";

export interface AuditEnv {
  readonly AUDIT_KEY?: string;
  readonly [name: string]: unknown;
}

/** An interval's checkpoint, as its statement for the ledger needs it. */
export interface IntervalCheckpoint extends Omit<CheckpointSubject, "at"> {
  readonly interval: number;
  readonly at: string;
}

/** A proof and the size of the log it speaks of. */
export interface ChainHeadProof {
  readonly size: number;
  readonly proof: AuditProof;
}

/** Some entries of a chain with all that proves them. */
export interface TrailProof extends ChainState {
  /** Oldest first. */
  readonly entries: readonly StoredEntry[];
  /** c2sp.org/tlog-proof@v1 of each, in the same order. */
  readonly proofs: readonly string[];
  readonly heads: HeadsProof | null;
}

const batchWindowMs = 50; // requests that end within this share one commit
const retryMs = 15 * secondMs; // armed before anything is tried, so that whatever happens is tried again
const rowsPerPage = 500;
const pagesPerRun = 20; // 10,000 rows a run of a home: some seconds, far inside the fifteen minutes an alarm may take
const frozenRetryMs = minuteMs; // nothing to hurry for: a person must look first

interface DrainResult {
  readonly appended: number;
  readonly hasMore: boolean;
}

const logError = (at: string, error: unknown): void =>
  console.error(JSON.stringify({ level: "error", at: `audit-log.${at}`, error: error instanceof Error ? error.name : "unknown" }));

export class AuditLog extends TransparencyLog<AuditEnv> {
  readonly #proofs = new Budget(proofsPerSecond);
  #keys: Promise<LogKeys> | undefined;

  constructor(ctx: DurableObjectState, env: AuditEnv) {
    super(ctx, env, auditLogSteps);
    // An alarm may start the object without its name; what it is called is kept from the first time it is known.
    if (ctx.id.name !== undefined && findMeta(ctx.storage.sql, "shard") === null) setMeta(ctx.storage.sql, "shard", ctx.id.name);
  }

  #logNumber(): number {
    const shard = Number(findMeta(this.ctx.storage.sql, "shard") ?? Number.NaN);
    if (!Number.isSafeInteger(shard)) throw new Error("audit: the object is not named by its shard");
    return shard;
  }

  #openKeys(): Promise<LogKeys> {
    const ending = `/audit/${this.#logNumber()}+`;
    const mine = (this.env.AUDIT_KEY ?? "").split(/\s+/).filter((secret) => secret.includes(ending));
    this.#keys ??= openLogKeys(mine.join(" "));
    return this.#keys;
  }

  /** Null from a log that is frozen. */
  async #getSignedCheckpoint(covers = 0): Promise<SignedCheckpoint | null> {
    return ensureSignedCheckpoint(this.ctx.storage, await this.#openKeys(), Date.now, covers);
  }

  /** Appends each row to its chain unless it is there already. Null, and nothing changed, from a log that is frozen. */
  append(rows: readonly AuditRow[]): AppendOutcome | null {
    const { storage } = this.ctx;
    return storage.transactionSync(() =>
      findFreezeReason(storage.sql) === null ? tables.appendRows(storage.sql, rows, Date.now()) : null,
    );
  }

  /** Closes an interval of fifteen minutes and signs over it. The same interval again gives the same answer. Null while frozen. */
  async checkpoint(interval: number, nowIso: string): Promise<IntervalCheckpoint | null> {
    const { storage } = this.ctx;
    if (findFreezeReason(storage.sql) !== null) return null;
    const { origin } = await this.#openKeys();
    const close = (): ClosedInterval => storage.transactionSync(() => tables.closeInterval(storage.sql, interval, nowIso, Date.now()));
    let closed = close();
    if (closed.checkpointSize === null) {
      const fresh = await this.#getSignedCheckpoint(closed.size);
      if (fresh === null) return null;
      tables.saveIntervalCheckpoint(storage.sql, interval, fresh.size);
      closed = close(); // of two calls at once the first one's checkpoint stays
    }
    const signed = findCheckpoint(storage.sql, closed.checkpointSize ?? -1);
    if (signed === null) throw new Error("audit: an interval's checkpoint is not there");
    return {
      origin,
      interval,
      at: closed.at,
      size: String(signed.size),
      root: toHex(signed.root),
      note: signed.note,
      headsRoot: closed.headsRoot,
      headsSize: String(closed.headsSize),
    };
  }

  /**
   * A page of a chain, newest first, from before `beforeSeq` on; with `belowSize`, as it was in a log of that size. Null for a
   * chain without entries.
   */
  getChainPage(
    chain: string,
    limit: number,
    beforeSeq: number | null = null,
    belowSize: number | null = null,
    about: readonly string[] | null = null,
  ): ChainPage | null {
    return tables.findChainPage(this.ctx.storage.sql, chain, limit, beforeSeq, belowSize ?? Number.MAX_SAFE_INTEGER, about);
  }

  /**
   * What proves a chain's newest entry and, up to the newest heads record, that nothing was left out. Against a checkpoint that
   * covers what the chain holds now, waiting up to a second for one, or against the signed one of `atSize`. The page that goes
   * with it is `readChain` below the size it names. Null for a chain without entries by then, and from a log that is frozen.
   */
  async proveChainHead(chain: string, atSize: number | null = null): Promise<ChainHeadProof | null> {
    const { sql } = this.ctx.storage;
    const index = tables.findHeadIndex(sql, chain, Number.MAX_SAFE_INTEGER);
    if (index === null) return null;
    const { origin } = await this.#openKeys();
    const checkpoint = atSize === null ? await this.#getSignedCheckpoint(index + 1) : findCheckpoint(sql, atSize);
    const proven = checkpoint === null ? null : tables.findHeadIndex(sql, chain, checkpoint.size);
    if (checkpoint === null || proven === null) return null;
    return {
      size: checkpoint.size,
      proof: {
        origin,
        checkpoint: checkpoint.note,
        head_tlog_proof: buildTlogProof(sql, proven, checkpoint),
        heads: tables.buildHeadsProof(sql, chain, checkpoint),
      },
    };
  }

  /** One tlog-proof an entry, for those of `seqs` that the chain has. Null from a log that is frozen. */
  async proveEntries(chain: string, seqs: readonly number[]): Promise<{ seq: number; tlog_proof: string }[] | null> {
    const { sql } = this.ctx.storage;
    const places = tables.listLogIndices(sql, chain, seqs);
    const last = Math.max(-1, ...places.map(({ log_index }) => log_index));
    const checkpoint = last < 0 ? null : await this.#getSignedCheckpoint(last + 1);
    if (checkpoint === null) return last < 0 ? [] : null;
    return places.map(({ seq, log_index }) => ({ seq, tlog_proof: buildTlogProof(sql, log_index, checkpoint) }));
  }

  /** The entries that these rows of an outbox became, oldest first, without those that no chain holds yet. */
  listEntries(chain: string, outboxIds: readonly string[]): StoredEntry[] {
    return tables.listEntriesByOutboxIds(this.ctx.storage.sql, chain, outboxIds);
  }

  /**
   * As `entriesOf`, with everything that proves them. Against the first checkpoint that covers what is proven, not the newest,
   * so that asking again later gives the same proofs. A chain that no heads record knows yet gets into one now, unless the log
   * is frozen. Null when there are no entries, and from a frozen log that never signed for them.
   */
  async getTrail(chain: string, outboxIds: readonly string[]): Promise<TrailProof | null> {
    const { storage } = this.ctx;
    const { sql } = storage;
    const entries = this.listEntries(chain, outboxIds);
    const state = tables.findChainState(sql, chain);
    const last = entries.at(-1);
    // Before anything is signed, so that one checkpoint covers entries and record.
    if (last !== undefined && findFreezeReason(sql) === null)
      storage.transactionSync(() => tables.recordHeadsForNewChain(sql, chain, Date.now()));
    const checkpoint = last === undefined ? null : await this.#firstCheckpointCovering(Number(last.log_index) + 1);
    if (state === null || checkpoint === null) return null;
    const record = tables.findNewestRecordIndex(sql);
    const recorded = record === null ? null : await this.#firstCheckpointCovering(record + 1);
    return {
      ...state,
      entries,
      proofs: entries.map(({ log_index }) => buildTlogProof(sql, Number(log_index), checkpoint)),
      heads: recorded === null ? null : tables.buildHeadsProof(sql, chain, recorded),
    };
  }

  /** The first checkpoint over so many entries; the newest, where an earlier key signed that one. */
  async #firstCheckpointCovering(size: number): Promise<SignedCheckpoint | null> {
    const first = findOldestCheckpointCovering(this.ctx.storage.sql, size);
    const { signers } = await this.#openKeys();
    return first !== null && isSignedByAll(first.note, signers) ? first : await this.#getSignedCheckpoint(size);
  }

  /** Soon, unless it is to happen sooner: read the outboxes. Costs one write at most, however often it is called. */
  async requestDrain(): Promise<void> {
    const soon = Date.now() + batchWindowMs;
    const armed = await this.ctx.storage.getAlarm();
    if (armed === null || armed > soon) await this.ctx.storage.setAlarm(soon);
  }

  /**
   * Brings in what was committed before the call, in one home or in every one, for readers who must see their own writes; `more`
   * when that was too much for one call. Null from a log that is frozen. Faults of a database are thrown.
   */
  async drainNow(home: ShardId | null = null): Promise<DrainResult | null> {
    const { drained, fault } = await this.#drainShards(home);
    if (fault !== null) throw fault;
    return drained;
  }

  /** Never throws and never gives up: the platform retries a failing alarm six times and then forgets it. */
  override async alarm(): Promise<void> {
    const retryAt = Date.now() + retryMs;
    await this.ctx.storage.setAlarm(retryAt);
    try {
      const { drained, fault } = await this.#drainShards(null);
      if (drained === null) await this.ctx.storage.setAlarm(Date.now() + frozenRetryMs);
      else if (drained.hasMore) await this.ctx.storage.setAlarm(Date.now());
      // Only the alarm set above: a notification since then has set an earlier one, for rows that may have been missed.
      else if (fault === null && (await this.ctx.storage.getAlarm()) === retryAt) await this.ctx.storage.deleteAlarm();
    } catch (error) {
      logError("alarm", error);
    }
  }

  /** One home after the other. One whose database fails keeps no other waiting; the first such fault comes with what was drained. */
  async #drainShards(only: ShardId | null): Promise<{ readonly drained: DrainResult | null; readonly fault: Error | null }> {
    if (findFreezeReason(this.ctx.storage.sql) !== null) return { drained: null, fault: null };
    const drained = { appended: 0, hasMore: false };
    let fault: Error | null = null;
    for (const [home, db] of openShards(this.env, backgroundTimeoutMs).all()) {
      if (only !== null && home !== only) continue;
      try {
        const one = await this.#drainShard(home, db);
        if (one === null) return { drained: null, fault };
        drained.appended += one.appended;
        drained.hasMore ||= one.hasMore;
      } catch (error) {
        logError("drain", error);
        fault ??= error instanceof Error ? error : new Error("audit: a home could not be drained");
      }
    }
    return { drained, fault };
  }

  /**
   * Every undrained row of this shard in one home: append, then mark. Dying between the two only means reading the rows again and
   * finding them known.
   */
  async #drainShard(home: ShardId, db: Database): Promise<DrainResult | null> {
    const shard = this.#logNumber();
    let appended = 0;
    let marked = 0;
    let after = 0;
    for (let pages = 0; pages < pagesPerRun; pages += 1) {
      const rows = await listUndrainedRows(db, shard, after, rowsPerPage);
      const last = rows.at(-1);
      if (last === undefined) return { appended, hasMore: false };
      const outcome = this.append(rows.map((row) => ({ ...row, shard: home })));
      if (outcome === null) return null;
      appended += outcome.appended;
      const malformed = new Set(outcome.malformed);
      if (malformed.size > 0) console.error(JSON.stringify({ level: "error", at: "audit-log.rows", error: `${malformed.size} malformed` }));
      const held = rows.filter(({ id }) => !malformed.has(id)).map(({ ord }) => ord);
      await markDrained(db, held, Date.now()).run();
      marked += held.length;
      if (rows.length < rowsPerPage) return { appended, hasMore: false };
      after = last.ord;
      await scheduler.wait(0); // others have their turn: on a machine of one's own this object has one thread with all of them
    }
    // A run that could mark nothing is not followed at once by another: the rows in its way will not be gone.
    return { appended, hasMore: marked > 0 };
  }

  /** The public side of the log: it holds hashes of hashes, so everything in it may be read. */
  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const base = `/audit/${this.#logNumber()}/`;
    if (request.method !== "GET" && request.method !== "HEAD") return textResponse(405, "Only GET, HEAD.\n", { Allow: "GET, HEAD" });
    if (!pathname.startsWith(base)) return notFoundResponse();
    const page = await this.#servePage(pathname.slice(base.length), searchParams);
    return request.method === "GET" ? page : new Response(null, page);
  }

  async #servePage(path: string, query: URLSearchParams): Promise<Response> {
    const { sql } = this.ctx.storage;
    if (path === "checkpoint") return checkpointResponse(await this.#getSignedCheckpoint());
    if (path === "proof") return this.#proofs.take(1, Date.now()) ? proofResponse(sql, query) : tooManyRequestsResponse();
    return path.startsWith("tile/") ? tileResponse(sql, path, { entriesArePublic: true, entriesRefusal: () => null }) : notFoundResponse();
  }
}
