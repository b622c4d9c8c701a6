// What is known of each ledger: the last tree of it that passed every check, and whether it may be asked at all.
import { eq, sql, type Column, type SQL } from "drizzle-orm";
import type { VerifiedTree } from "../core/ledger/adapter.ts";
import { getBlockedUntil } from "../core/ledger/retries.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { excluded, insertIf } from "./inserts.ts";
import { existsIn } from "./query.ts";
import { anchors, ledgerState as ledgers } from "./schema.ts";

export const getLedgerState = async (db: Database, ledgerId: string) => {
  const row = await db.select().from(ledgers).where(eq(ledgers.ledgerId, ledgerId)).get();
  return {
    seen: row === undefined || row.root === null || row.note === null ? null : { size: row.size, root: row.root, note: row.note },
    failures: row?.failures ?? 0,
    blockedUntil: row?.blockedUntil ?? 0,
    forked: row?.fork != null,
  };
};

/** Sizes are decimal text of up to 20 digits: the longer is the larger, then text order decides. */
const excludedSize = excluded(ledgers.size);
const isLargerTree = sql`(length(${excludedSize}), ${excludedSize}) > (length(${ledgers.size}), ${ledgers.size})`;
const valueIfLarger = (column: Column): SQL => sql`case when ${isLargerTree} then ${excluded(column)} else ${column} end`;

/**
 * The ledger answered with a tree that passed every check. A smaller tree than the one known changes nothing but the breaker.
 * Learned for a row, it is kept only while that row is under its lease: what a run learned before its database was restored to
 * an earlier day is not for that day's rows. So it goes first in the batch that ends the lease.
 */
export const recordSeenTree = (
  db: Database,
  ledgerId: string,
  { size, root, note }: VerifiedTree,
  now: Instant,
  learnedFor: { readonly anchorId: string; readonly lease: string } | null = null,
) => {
  const isLeased =
    learnedFor === null ? sql`true` : existsIn(anchors, eq(anchors.id, learnedFor.anchorId), eq(anchors.lease, learnedFor.lease));
  return insertIf(db, ledgers, { ledgerId, size, root, note, updatedAt: now }, isLeased).onConflictDoUpdate({
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

/** The ledger could not be used. After some times in a row it is left alone for a while. */
export const recordLedgerFailure = (db: Database, ledgerId: string, failuresBefore: number, now: Instant, random: number) => {
  const failures = failuresBefore + 1;
  const state = { failures, blockedUntil: getBlockedUntil(failures, now, random), updatedAt: now };
  return db
    .insert(ledgers)
    .values({ ledgerId, ...state })
    .onConflictDoUpdate({ target: ledgers.ledgerId, set: state });
};

/** Two signed trees that cannot both be true: kept as evidence, and the ledger is asked nothing until an operator has looked. */
export const recordLedgerFork = (db: Database, ledgerId: string, fork: { readonly old: string; readonly new: string }, now: Instant) =>
  db
    .insert(ledgers)
    .values({ ledgerId, fork, updatedAt: now })
    .onConflictDoUpdate({
      target: ledgers.ledgerId,
      set: { fork: sql`coalesce(${ledgers.fork}, ${excluded(ledgers.fork)})`, updatedAt: now },
    });
