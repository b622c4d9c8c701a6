// The state of each ledger: the largest tree that has passed every check, and whether requests to the ledger are blocked.
import { eq, sql, type Column, type SQL } from "drizzle-orm";
import type { VerifiedTree } from "../core/ledger/adapter.ts";
import { getBlockedUntil } from "../core/ledger/retries.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { excluded, insertIf } from "./inserts.ts";
import { ledgerState as ledgers } from "./schema.ts";

/** Returns a ledger's state, or defaults if the ledger has not been used. */
export const getLedgerState = async (db: Database, ledgerId: string) => {
  const row = await db.select().from(ledgers).where(eq(ledgers.ledgerId, ledgerId)).get();
  return {
    seen: row === undefined || row.root === null || row.note === null ? null : { size: row.size, root: row.root, note: row.note },
    failures: row?.failures ?? 0,
    blockedUntil: row?.blockedUntil ?? 0,
    forked: row?.fork != null,
  };
};

/** Sizes are decimal strings of up to 20 digits. A longer string is a larger number, and strings of equal length are compared as text. */
const excludedSize = excluded(ledgers.size);
const isLargerTree = sql`(length(${excludedSize}), ${excludedSize}) > (length(${ledgers.size}), ${ledgers.size})`;
const valueIfLarger = (column: Column): SQL => sql`case when ${isLargerTree} then ${excluded(column)} else ${column} end`;

/**
 * Resets the failures. Also stores a tree that has passed every check, if it is larger than the stored one. While submitting statements,
 * use `onlyIf` to store the tree only while the run has the lease: a database restore ends the lease, and a tree from before the restore
 * does not match the restored rows. In the batch, this statement must come before the one that ends the lease.
 */
export const recordSeenTree = (
  db: Database,
  ledgerId: string,
  { size, root, note }: VerifiedTree,
  now: Instant,
  onlyIf: SQL = sql`true`,
) => {
  return insertIf(db, ledgers, { ledgerId, size, root, note, updatedAt: now }, onlyIf).onConflictDoUpdate({
    target: ledgers.ledgerId,
    set: {
      failures: 0,
      blockedUntil: 0,
      updatedAt: now,
      root: valueIfLarger(ledgers.root),
      note: valueIfLarger(ledgers.note),
      size: valueIfLarger(ledgers.size),
    },
  });
};

/** Records a failed call. After several failures in a row, blocks requests to the ledger for a while. */
export const recordLedgerFailure = (db: Database, ledgerId: string, failuresBefore: number, now: Instant, random: number) => {
  const failures = failuresBefore + 1;
  const state = { failures, blockedUntil: getBlockedUntil(failures, now, random), updatedAt: now };
  return db
    .insert(ledgers)
    .values({ ledgerId, ...state })
    .onConflictDoUpdate({ target: ledgers.ledgerId, set: state });
};

/**
 * Stores two contradictory signed trees as evidence. From then on, the service does not use the ledger until an operator has reviewed them.
 */
export const recordLedgerFork = (db: Database, ledgerId: string, fork: { readonly old: string; readonly new: string }, now: Instant) =>
  db
    .insert(ledgers)
    .values({ ledgerId, fork, updatedAt: now })
    .onConflictDoUpdate({
      target: ledgers.ledgerId,
      set: { fork: sql`coalesce(${ledgers.fork}, ${excluded(ledgers.fork)})`, updatedAt: now },
    });
