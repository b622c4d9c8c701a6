// Checkpoints of the audit log, one a quarter of an hour, and the largest tree each log ever signed. They live in home 00:
// the log is one for all homes.
import { checkpointStatement, entryHash } from "../core/ledger/statement.ts";
import type { Instant } from "../core/time.ts";

export interface TakenCheckpoint {
  readonly origin: string;
  readonly shard: number;
  /** Count of quarters of an hour since 1970. */
  readonly window: number;
  readonly at: Instant;
  readonly size: string;
  readonly root: string;
  readonly note: string;
  readonly headsRoot: string;
  readonly headsSize: string;
}

/** The largest tree a log of ours signed, as remembered outside of it. */
export const highwater = async (db: D1Database, shard: number): Promise<{ readonly size: string; readonly root: string } | null> =>
  db.prepare("SELECT size, root FROM log_highwater WHERE shard = ?").bind(shard).first<{ size: string; root: string }>();

const raiseHighwater = (db: D1Database, shard: number, size: string, root: string, now: Instant): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO log_highwater (shard, size, root, updated_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (shard) DO UPDATE SET size = excluded.size, root = excluded.root, updated_at = excluded.updated_at
       WHERE CAST(excluded.size AS INTEGER) > CAST(log_highwater.size AS INTEGER)`,
    )
    .bind(shard, size, root, now);

/** Keeps a checkpoint and asks for it to be anchored in each ledger. The same window again changes nothing. */
export const keepCheckpoint = async (db: D1Database, taken: TakenCheckpoint, ledgerIds: readonly string[], now: Instant): Promise<void> => {
  const statement = checkpointStatement(taken);
  await db.batch([
    db
      .prepare(
        `INSERT INTO checkpoints (origin, window, size, root, note, heads_root, heads_size, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (origin, window) DO NOTHING`,
      )
      .bind(taken.origin, taken.window, taken.size, taken.root, taken.note, taken.headsRoot, taken.headsSize, now),
    ...ledgerIds.map((ledgerId) =>
      db
        .prepare(
          `INSERT INTO anchors (id, ledger_id, kind, entity_id, event, statement, entry_hash, next_at, created_at)
           VALUES (?, ?, 'checkpoint', ?, 'audit.checkpoint', ?, ?, ?, ?) ON CONFLICT (ledger_id, entry_hash) DO NOTHING`,
        )
        .bind(crypto.randomUUID(), ledgerId, taken.origin, statement, entryHash(statement), now, now),
    ),
    raiseHighwater(db, taken.shard, taken.size, taken.root, now),
  ]);
};
