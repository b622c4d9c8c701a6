// The journal of submissions that were accepted while the database did not respond. Each journal belongs to one shard and to the clients
// whose IDs end with the same character (core/intake/journal-name.ts). An entry is on disk before its submission is accepted with 201. The
// alarm places the entries, that is, writes them to the database in order. An entry is deleted only once the database contains it.
// docs/internals/intake.md explains the design.
import { DurableObject } from "cloudflare:workers";
import { shardOfId, type CertId } from "../../core/ids.ts";
import { minuteMs, secondMs, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { findStorageFault } from "../../storage/faults.ts";
import { openShards } from "../../storage/shards.ts";
import { migrateSchema } from "../schema-steps.ts";
import type { AppendAnswer, JournalEntry } from "./entry.ts";
import { isFull } from "./limits.ts";
import { intakeJournalSteps } from "./migrations.ts";
import { placeEntries } from "./placement.ts";
import * as tables from "./tables.ts";

const maxBatch = 50; // each entry has about twelve statements, and one alarm can send at most 1,000
const firstTryMs = 250; // after a short outage, entries are placed within a second
const retryMs = secondMs;
const refusedRetryMs = minuteMs; // the database is unlikely to accept the entry before an operator has inspected it
const probeMs = secondMs; // the timeout of the first query, which only checks whether the database responds
const batchTimeoutMs = 10 * secondMs; // a slow database must be able to finish a batch; otherwise, nothing would ever be placed
const receiptMs = 10 * secondMs; // isolates send submissions to the database again within two seconds after the journal is empty

/** Logs only the kind of the error, because its message can contain values. */
const logError = (at: string, error: unknown): void => {
  const kind = findStorageFault(error)?.message ?? (error instanceof Error ? error.name : "unknown");
  console.error(JSON.stringify({ level: "error", at: `intake-journal.${at}`, error: kind }));
};

export class IntakeJournal extends DurableObject<object> {
  /** When the alarm will next run, if this process has set it; otherwise infinity. */
  #alarmAt: Instant = Number.POSITIVE_INFINITY;
  /**
   * The size of the next batch. It is halved when the database refuses a batch, so that the refused entry is soon alone in its batch. It is
   * doubled after a success.
   */
  #batchSize = maxBatch;
  /** True if the database responded to the last batch, even with a refusal. */
  #isDatabaseWell = false;
  /**
   * When entries were last placed. Starts as the time when this process started, because the previous process may have placed entries just
   * before.
   */
  #placedAt: Instant = Date.now();
  #lastPlacement: Promise<unknown> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrateSchema(ctx.storage, intakeJournalSteps);
    // The previous process may have died after it stored an entry and before it set the alarm.
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
   * Stores a submission. The caller gets the response only after the entry is on disk. A submission with the idempotency key of an earlier
   * entry stores nothing and gets the response of that entry. `room` is the number of submissions that the client had left that day when
   * the database last responded; it is null if there is no limit.
   */
  async append(entry: JournalEntry, room: number | null): Promise<AppendAnswer> {
    const { sql } = this.ctx.storage;
    const earlier = entry.receipt === null ? null : tables.findReceipt(sql, entry.receipt.keyHash);
    if (earlier !== null) return { kind: "repeated", receipt: earlier };
    const usage = tables.getUsage(sql);
    if (isFull(usage, Date.now())) return { kind: "refused" };
    // If the whole journal has fewer entries than `room`, the client's entries need not be counted.
    const mayExceed = room !== null && usage.entries >= room;
    if (mayExceed && tables.countOfClient(sql, entry.clientId, entry.day) >= room) return { kind: "refused" };
    this.ctx.storage.transactionSync(() => tables.insertEntry(sql, entry));
    if (this.#alarmAt > Date.now() + retryMs) await this.#arm(firstTryMs);
    return { kind: "journaled" };
  }

  /**
   * Returns how many of the entries that were stored before the call are not in the database yet. If few entries wait and the database
   * responded to the last batch, first places the next batch, so that the result reaches 0 even while new entries keep arriving.
   */
  async countWaiting(): Promise<number> {
    const { sql } = this.ctx.storage;
    const head = tables.findHead(sql);
    const waiting = tables.countWaiting(sql, head);
    if (waiting === 0 || waiting > maxBatch || !this.#isDatabaseWell) return waiting;
    try {
      await this.#placeNext();
    } catch (error) {
      logError("count", error);
    }
    return tables.countWaiting(sql, head);
  }

  /** Returns the published JSON of a certificate that waits in this journal, or null. */
  findPublished(certId: CertId): string | null {
    return tables.findPublished(this.ctx.storage.sql, certId);
  }

  /**
   * Places a certificate if it waits in this journal. Returns true if any entries were placed in the last ten seconds. The caller should
   * then read the database again. Rejects with the storage fault if the certificate cannot be placed.
   */
  place(certId: CertId): Promise<boolean> {
    return this.#runExclusively(async () => {
      const entry = tables.findWaiting(this.ctx.storage.sql, certId);
      if (entry !== null) await this.#place([entry]);
      return Date.now() < this.#placedAt + receiptMs;
    });
  }

  /** Runs after all earlier runs have ended, so that no two runs place the same entry. */
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

  /** Places the oldest entries. If the database refuses an entry that is alone in its batch, the entry moves to the end. */
  #placeNext(): Promise<void> {
    return this.#runExclusively(async () => {
      const { sql } = this.ctx.storage;
      const entries = tables.listWaiting(sql, this.#batchSize);
      try {
        await this.#place(entries);
        this.#batchSize = Math.min(maxBatch, this.#batchSize * 2);
      } catch (error) {
        if (!this.#isDatabaseWell) throw error;
        logError("refused", error);
        const [only] = entries;
        if (entries.length === 1 && only !== undefined) tables.countRefusal(sql, only.ord);
        this.#batchSize = Math.max(1, Math.floor(this.#batchSize / 2));
      }
    });
  }

  /** Never rejects, because the platform retries a failing alarm six times and then drops it. */
  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    await this.#arm(retryMs); // set before any work, so that the work continues if the process dies
    try {
      await this.#placeNext();
    } catch (error) {
      logError("alarm", error);
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
