// Appends entries from the shards' change logs to the audit log, one shard at a time.
import type { ShardId } from "../../core/ids.ts";
import { createAuditReader, type PendingAuditEntry } from "../../storage/audit-entries.ts";
import { runReader } from "../../storage/change-reader.ts";
import type { Database } from "../../storage/database.ts";
import { logError } from "../error-log.ts";
import type { AppendOutcome, AuditRow } from "./tables.ts";

const entriesPerPage = 500;
const pagesPerRun = 20; // 10,000 entries per shard take a few seconds, and the platform stops an alarm after 15 minutes

export interface DrainResult {
  readonly appended: number;
  readonly hasMore: boolean;
}

export interface DrainOutcome {
  /** Null if the log is frozen. */
  readonly result: DrainResult | null;
  /** The first error, or null if all shards succeeded. An error in one shard does not stop the others. */
  readonly fault: Error | null;
}

export interface DrainPorts {
  /** The name of the audit log, which is the ID of a shard. Only entries for this log are read. */
  readonly auditLog: ShardId;
  /** Appends entries. Returns null if the log is frozen. */
  readonly append: (rows: readonly AuditRow[]) => AppendOutcome | null;
}

/** Appends the entries of one shard's unread changes. Returns null if the log is frozen. */
const drainShard = async (shard: ShardId, db: Database, { auditLog, append }: DrainPorts): Promise<DrainResult | null> => {
  let appended = 0;
  let pages = 0;
  const process = async (entries: readonly PendingAuditEntry[]): Promise<ReadonlySet<string> | null> => {
    const outcome = append(entries.map(({ ord, ...entry }) => ({ ...entry, changeOrd: ord, shard })));
    if (outcome === null) return null;
    appended += outcome.appended;
    const malformed = new Set(outcome.malformed);
    if (malformed.size > 0) console.error(JSON.stringify({ level: "error", at: "audit-log.rows", error: `${malformed.size} malformed` }));
    return new Set(entries.filter(({ id }) => malformed.has(id)).map(({ ord }) => String(ord)));
  };
  const canContinue = async (): Promise<boolean> => {
    if (pages > 0) await scheduler.wait(0); // all objects of a local runtime share one thread, so this lets other objects run
    pages += 1;
    return pages <= pagesPerRun;
  };
  const reader = createAuditReader(auditLog, { maxPerPage: entriesPerPage, process, clock: Date.now });
  const hasMore = await runReader(db, reader, { clock: Date.now, canContinue });
  return hasMore === null ? null : { appended, hasMore };
};

/** Appends the unread entries of all given shards. Stops as soon as the log is frozen. */
export const drainShards = async (shards: Iterable<readonly [ShardId, Database]>, ports: DrainPorts): Promise<DrainOutcome> => {
  let appended = 0;
  let hasMore = false;
  let fault: Error | null = null;
  for (const [shard, db] of shards) {
    try {
      const result = await drainShard(shard, db, ports);
      if (result === null) return { result: null, fault };
      appended += result.appended;
      hasMore ||= result.hasMore;
    } catch (error) {
      logError("audit-log.drain", error);
      fault ??= error instanceof Error ? error : new Error("a shard could not be drained");
    }
  }
  return { result: { appended, hasMore }, fault };
};
