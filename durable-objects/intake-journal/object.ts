// The journal of submissions that the service accepted while the database did not respond. Each journal belongs to one shard and to the
// clients whose IDs end with the same character (core/intake/journal-name.ts). The service responds with 201 only after the entry is on
// disk. The alarm places the entries, that is, writes them to the database in order. The journal deletes an entry only after the database
// contains it. docs/internals/intake.md explains the design.
import { DurableObject } from "cloudflare:workers";
import { shardOfId, type CertId } from "../../core/ids.ts";
import { minuteMs, secondMs, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { findStorageFault } from "../../storage/faults.ts";
import { openShards } from "../../storage/shards.ts";
import { logError } from "../error-log.ts";
import { migrateSchema } from "../schema-steps.ts";
import type { AppendAnswer, JournalEntry } from "./entry.ts";
import { isFull } from "./limits.ts";
import { intakeJournalSteps } from "./migrations.ts";
import { placeEntries } from "./placement.ts";
import * as tables from "./tables.ts";

const maxBatch = 50; // each entry has about twelve statements, and one alarm can send at most 1,000
const firstTryMs = 250; // short enough to place entries within a second after a short outage
const retryMs = secondMs;
const refusedRetryMs = minuteMs; // the database is unlikely to accept the entry until an operator has inspected it
const probeMs = secondMs; // the timeout of the first query, so that a database that does not respond is noticed quickly
const batchTimeoutMs = 10 * secondMs; // long enough for a slow database to finish a batch, so that its entries are placed at all
const receiptMs = 10 * secondMs; // isolates may send requests to an empty journal for two more seconds, so its responses are kept longer

export class IntakeJournal extends DurableObject<object> {
  /** The next alarm time, or infinity if this process has not set an alarm. */
  #alarmAt: Instant = Number.POSITIVE_INFINITY;
  /**
   * The size of the next batch. It doubles after a success. It is halved after the database refuses a batch, so that an entry that causes
   * refusals is soon alone in its batch.
   */
  #batchSize = maxBatch;
  /** True if the database responded to the last batch, even if it refused the batch. */
  #isDatabaseWell = false;
  /**
   * The time when entries were last placed. Initially the time when the process started, because the previous process may have placed
   * entries shortly before.
   */
  #placedAt: Instant = Date.now();
  #lastPlacement: Promise<unknown> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrateSchema(ctx.storage, intakeJournalSteps);
    // The previous process may have stored an entry and died before it set the alarm.
    if (tables.hasEntries(ctx.storage.sql)) void this.#arm(1);
  }

  async #arm(delayMs: number): Promise<void> {
    this.#alarmAt = Date.now() + delayMs;
    await this.ctx.storage.setAlarm(this.#alarmAt);
  }

  #openDatabase(certId: CertId, timeoutMs: number): Database {
    return openShards(this.env, timeoutMs).get(shardOfId(certId));
  }

  /**
   * Stores a submission. The entry is on disk before the caller gets the result. If an entry with the same idempotency key is waiting or
   * was placed a few seconds ago, stores nothing and returns that entry's response. Refuses the submission if a limit is reached or the
   * entry is too large.
   *
   * `room` is the number of submissions that the client had left that day when the database last responded. `maxBytes` limits the bytes of
   * the client's entries, so that one client cannot fill the journal, which other clients share. If either is null, that limit does not
   * apply.
   */
  async append(entry: JournalEntry, room: number | null, maxBytes: number | null = null): Promise<AppendAnswer> {
    const { sql } = this.ctx.storage;
    const earlier = entry.receipt === null ? null : tables.findReceipt(sql, entry.receipt.keyHash);
    if (earlier !== null) return { kind: "repeated", receipt: earlier };
    const usage = tables.getUsage(sql);
    if (isFull(usage, Date.now())) return { kind: "refused" };
    const isReached = ({ entries, bytes }: Pick<tables.JournalUsage, "entries" | "bytes">): boolean =>
      (room !== null && entries >= room) || (maxBytes !== null && bytes >= maxBytes);
    // If the whole journal is below the client's limits, there is no need to count the client's entries.
    if (isReached(usage) && isReached(tables.getUsageOfClient(sql, entry.clientId, entry.day))) return { kind: "refused" };
    const isInserted = this.ctx.storage.transactionSync(() => tables.insertEntry(sql, entry));
    if (!isInserted) return { kind: "refused" };
    if (this.#alarmAt > Date.now() + retryMs) await this.#arm(firstTryMs);
    return { kind: "journaled" };
  }

  /**
   * Counts the entries that were stored before the call and are not in the database yet. Does not count entries that the database has
   * refused. If at most 50 entries are waiting and the database responded to the last batch, places a batch first. Otherwise, a constant
   * flow of new entries could keep the result above 0.
   */
  async countWaiting(): Promise<number> {
    const { sql } = this.ctx.storage;
    const head = tables.findHead(sql);
    const waiting = tables.countWaiting(sql, head);
    if (waiting === 0 || waiting > maxBatch || !this.#isDatabaseWell) return waiting;
    try {
      await this.#placeNext();
    } catch (error) {
      logError("intake-journal.count", error);
    }
    return tables.countWaiting(sql, head);
  }

  /** Returns true if a certificate that the withdrawal covers may be in this journal. */
  mayContain(scope: tables.WithdrawalScope): boolean {
    return tables.mayContain(this.ctx.storage.sql, scope);
  }

  /** Returns the published JSON of a certificate that is still in this journal, or null. */
  findPublished(certId: CertId): string | null {
    return tables.findPublished(this.ctx.storage.sql, certId);
  }

  /**
   * Places a certificate if it is still in this journal. Rejects with the storage fault if that fails. Returns true if the journal has
   * placed any entries in the last ten seconds. The caller must then read the database again, because the certificate may be among them.
   */
  place(certId: CertId): Promise<boolean> {
    return this.#runExclusively(async () => {
      const entry = tables.findWaiting(this.ctx.storage.sql, certId);
      if (entry !== null) await this.#place([entry]);
      return Date.now() < this.#placedAt + receiptMs;
    });
  }

  /** Starts `run` after all earlier runs have ended, so that no two runs place the same entry. */
  #runExclusively<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lastPlacement.then(run);
    this.#lastPlacement = result.catch(() => {});
    return result;
  }

  async #place(entries: readonly tables.WaitingEntry[]): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    try {
      await placeEntries(this.#openDatabase(first.certId, probeMs), this.#openDatabase(first.certId, batchTimeoutMs), entries);
      this.#isDatabaseWell = true;
    } catch (error) {
      this.#isDatabaseWell = findStorageFault(error)?.kind !== "outage";
      throw error;
    }
    this.#placedAt = Date.now();
    const { storage } = this.ctx;
    storage.transactionSync(() => {
      for (const { ord } of entries) tables.deletePlaced(storage.sql, ord, Date.now());
    });
  }

  /** Places the next batch. If the database refuses a batch with only one entry, that entry is tried again only after all others. */
  #placeNext(): Promise<void> {
    return this.#runExclusively(async () => {
      const { sql } = this.ctx.storage;
      const entries = tables.listWaiting(sql, this.#batchSize);
      try {
        await this.#place(entries);
        this.#batchSize = Math.min(maxBatch, this.#batchSize * 2);
      } catch (error) {
        if (!this.#isDatabaseWell) throw error;
        logError("intake-journal.refused", error);
        const [only] = entries;
        if (entries.length === 1 && only !== undefined) tables.countRefusal(sql, only.ord);
        this.#batchSize = Math.max(1, Math.floor(this.#batchSize / 2));
      }
    });
  }

  /** Places waiting entries. Does not reject if that fails, because the platform retries a failing alarm six times and then drops it. */
  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    await this.#arm(retryMs); // set before any work, so that the work resumes if the process dies
    try {
      await this.#placeNext();
    } catch (error) {
      logError("intake-journal.alarm", error);
    }
    tables.deletePlacedReceipts(sql, Date.now() - receiptMs);
    if (tables.countWaiting(sql) > 0) {
      if (this.#isDatabaseWell) await this.#arm(0);
    } else if (tables.hasEntries(sql)) await this.#arm(refusedRetryMs);
    else if (tables.hasPlacedReceipts(sql)) await this.#arm(receiptMs);
    else {
      this.#alarmAt = Number.POSITIVE_INFINITY;
      await this.ctx.storage.deleteAlarm();
    }
  }
}
