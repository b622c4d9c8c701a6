// Reads the shards' change logs into the audit log, one shard at a time.
import type { ShardId } from "../../core/ids.ts";
import { batch, type Database, type Found } from "../../storage/database.ts";
import { getAuditReader, listAuditEntriesOf, readAuditEntries, saveAuditPosition } from "../../storage/audit-entries.ts";
import { deleteExceptions, listDueExceptions, postponeExceptions } from "../../storage/changes.ts";
import type { AppendOutcome, AuditRow } from "./tables.ts";

const entriesPerPage = 500;
const pagesPerRun = 20; // 10,000 entries per shard and run take a few seconds, well within the 15 minutes that an alarm may take

type PendingAuditEntry = Found<typeof readAuditEntries>["entries"][number];

export interface DrainResult {
  readonly appended: number;
  /** True if changes remain that the next run can process. */
  readonly hasMore: boolean;
}

export interface DrainOutcome {
  /** Null if the log is frozen. */
  readonly result: DrainResult | null;
  /** The first failure of any shard. The other shards were drained. */
  readonly fault: Error | null;
}

export interface DrainPorts {
  /** The number of this audit log. Each row contains the number of the log it belongs to. */
  readonly auditLog: number;
  /** Null if the log is frozen. */
  readonly append: (rows: readonly AuditRow[]) => AppendOutcome | null;
}

export const logError = (at: "alarm" | "drain", error: unknown): void =>
  console.error(JSON.stringify({ level: "error", at: `audit-log.${at}`, error: error instanceof Error ? error.name : "unknown" }));

/** Appends entries. Returns the sequence numbers of the changes whose entries are malformed, or null if the log is frozen. */
const appendEntries = (entries: readonly PendingAuditEntry[], shard: ShardId, { append }: DrainPorts) => {
  const outcome = append(entries.map(({ ord, ...entry }) => ({ ...entry, changeOrd: ord, shard })));
  if (outcome === null) return null;
  const ids = new Set(outcome.malformed);
  if (ids.size > 0) console.error(JSON.stringify({ level: "error", at: "audit-log.rows", error: `${ids.size} malformed` }));
  return { appended: outcome.appended, malformed: entries.filter(({ id }) => ids.has(id)).map(({ ord }) => ord) };
};

/** Tries changes again that were set aside because of malformed entries. A new version of the code may accept them. */
const retryExceptions = async (shard: ShardId, db: Database, ports: DrainPorts): Promise<number> => {
  const reader = getAuditReader(ports.auditLog);
  const due = await listDueExceptions(db, reader, Date.now(), entriesPerPage);
  if (due.length === 0) return 0;
  const outcome = appendEntries(await listAuditEntriesOf(db, ports.auditLog, due), shard, ports);
  if (outcome === null) return 0;
  const { appended, malformed } = outcome;
  const done = due.filter((ord) => !malformed.includes(ord));
  await batch(db, [deleteExceptions(db, reader, done), postponeExceptions(db, reader, malformed, Date.now())]);
  return appended;
};

/**
 * Appends the entries of unread changes, then stores the position. If the process crashes in between, the changes are read again and
 * recognized. Returns null if the log is frozen.
 */
const drainShard = async (shard: ShardId, db: Database, ports: DrainPorts): Promise<DrainResult | null> => {
  let appended = await retryExceptions(shard, db, ports);
  for (let pages = 0; pages < pagesPerRun; pages += 1) {
    const { entries, position, hasMore } = await readAuditEntries(db, ports.auditLog, entriesPerPage);
    if (position === null) return { appended, hasMore: false };
    const outcome = appendEntries(entries, shard, ports);
    if (outcome === null) return null;
    appended += outcome.appended;
    await saveAuditPosition(db, ports.auditLog, position, outcome.malformed, Date.now());
    if (!hasMore) return { appended, hasMore: false };
    await scheduler.wait(0); // lets other objects run, because in a local runtime they all share one thread
  }
  return { appended, hasMore: true };
};

/** Drains every shard. A shard that fails does not delay the others. */
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
      logError("drain", error);
      fault ??= error instanceof Error ? error : new Error("a shard could not be drained");
    }
  }
  return { result: { appended, hasMore }, fault };
};
