// Reads the shards' audit outboxes into the log, one shard at a time.
import type { ShardId } from "../../core/ids.ts";
import type { Database } from "../../storage/database.ts";
import { markDrained, listUndrainedRows } from "../../storage/outboxes/audit.ts";
import type { AppendOutcome, AuditRow } from "./tables.ts";

const rowsPerPage = 500;
const pagesPerRun = 20; // 10,000 rows per shard and run take a few seconds, well within the 15 minutes that an alarm may take

export interface DrainResult {
  readonly appended: number;
  /** True if rows remain that the next run can process. */
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

/**
 * Appends the rows, then marks them. If the process crashes in between, the rows are read again and recognized. Returns null if the log is
 * frozen.
 */
const drainShard = async (shard: ShardId, db: Database, { auditLog, append }: DrainPorts): Promise<DrainResult | null> => {
  let appended = 0;
  let marked = 0;
  let after = 0;
  for (let pages = 0; pages < pagesPerRun; pages += 1) {
    const rows = await listUndrainedRows(db, auditLog, after, rowsPerPage);
    const last = rows.at(-1);
    if (last === undefined) return { appended, hasMore: false };
    const outcome = append(rows.map((row) => ({ ...row, shard })));
    if (outcome === null) return null;
    appended += outcome.appended;
    const malformed = new Set(outcome.malformed);
    if (malformed.size > 0) console.error(JSON.stringify({ level: "error", at: "audit-log.rows", error: `${malformed.size} malformed` }));
    const stored = rows.filter(({ id }) => !malformed.has(id)).map(({ ord }) => ord);
    await markDrained(db, stored, Date.now()).run();
    marked += stored.length;
    if (rows.length < rowsPerPage) return { appended, hasMore: false };
    after = last.ord;
    await scheduler.wait(0); // lets other objects run, because in a local runtime they all share one thread
  }
  // If a run marked no rows, another run would find only the same malformed rows.
  return { appended, hasMore: marked > 0 };
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
