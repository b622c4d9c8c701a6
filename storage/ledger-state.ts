// The state of each ledger: its position in the change log, the largest tree that has passed all checks, and whether requests to the ledger
// are blocked.
import { eq, sql, type Column, type SQL } from "drizzle-orm";
import type { VerifiedTree } from "../core/ledger/adapter.ts";
import type { Instant } from "../core/time.ts";
import { isInLog, readerOffset, type ChangePosition } from "./changes.ts";
import type { Database } from "./database.ts";
import { excluded, insertIf } from "./inserts.ts";
import { existsIn } from "./query.ts";
import { ledgerState as ledgers } from "./schema.ts";

/** Returns a ledger's state, or defaults if the ledger has not been used. */
export const getLedgerState = async (db: Database, ledgerId: string) => {
  const row = await db.select().from(ledgers).where(eq(ledgers.ledgerId, ledgerId)).get();
  return {
    seen: row === undefined || row.root === null || row.note === null ? null : { size: row.size, root: row.root, note: row.note },
    failures: row?.failures ?? 0,
    blockedUntil: row?.blockedUntil ?? 0,
    forked: row?.fork != null,
    lastRun: row?.lastRun ?? null,
  };
};

/** Selects the number of the last change that a ledger has read. */
export const ledgerOffset = (ledgerId: SQL | string): SQL<number> =>
  readerOffset(sql`select ${ledgers.ord} from ${ledgers} where ${ledgers.ledgerId} = ${ledgerId}`);

/**
 * Selects the number of the last change that all ledgers have read. This includes a ledger that is no longer configured, until its
 * statements are moved to the current ledger.
 */
export const slowestLedgerOffset = (ledgerIds: readonly string[]): SQL<number> =>
  sql`(select min(${ledgerOffset(sql`l.ledger_id`)}) from (select value as ledger_id from json_each(${JSON.stringify(ledgerIds)})
    union select ${ledgers.ledgerId} from ${ledgers} where ${ledgers.ord} is not null) l)`;

/** Sizes are decimal strings of up to 20 digits. They are compared by length first, and as text if they have the same length. */
const excludedSize = excluded(ledgers.size);
const isLargerTree = sql`(length(${excludedSize}), ${excludedSize}) > (length(${ledgers.size}), ${ledgers.size})`;
const valueIfLarger = (column: Column): SQL => sql`case when ${isLargerTree} then ${excluded(column)} else ${column} end`;

/** Resets the failures and replaces the stored tree with a larger one. */
const afterSuccess = {
  failures: 0,
  blockedUntil: 0,
  root: valueIfLarger(ledgers.root),
  note: valueIfLarger(ledgers.note),
  size: valueIfLarger(ledgers.size),
};

/** Resets the failures. Stores a tree that has passed all checks if it is larger than the stored one. */
export const recordSeenTree = (db: Database, ledgerId: string, { size, root, note }: VerifiedTree, now: Instant) =>
  db
    .insert(ledgers)
    .values({ ledgerId, size, root, note, updatedAt: now })
    .onConflictDoUpdate({ target: ledgers.ledgerId, set: { ...afterSuccess, updatedAt: now } });

/** What a run read when it started: the ID of the last run that had stored results, and the newest change. */
export interface LedgerRunBasis {
  readonly lastRun: string | null;
  readonly newest: ChangePosition;
}

/**
 * Builds a condition that is true if, since this run started, no other run has stored results and the database was not restored to an
 * earlier state.
 */
export const isRunCurrent = (ledgerId: string, { lastRun, newest }: LedgerRunBasis): SQL =>
  sql`((select ${ledgers.lastRun} from ${ledgers} where ${ledgers.ledgerId} = ${ledgerId}) is ${lastRun} and ${isInLog(newest)})`;

interface LedgerRun {
  readonly id: string;
  readonly readUpTo: number;
  /** The newest tree, if the ledger accepted a statement. */
  readonly verifiedTree: VerifiedTree | null;
  /** Set if the ledger itself failed. */
  readonly failure: { readonly failures: number; readonly blockedUntil: Instant } | null;
}

/**
 * Stores the position of a run and the new state of the ledger, unless the run is outdated. Returns a row only if they were stored. Must be
 * the first statement in the batch, because the others use `isStoredRun`.
 */
export const storeLedgerRun = (db: Database, ledgerId: string, basis: LedgerRunBasis, run: LedgerRun, now: Instant) => {
  const progress = { ord: run.readUpTo, lastRun: run.id, updatedAt: now, ...run.failure };
  return insertIf(db, ledgers, { ledgerId, ...run.verifiedTree, ...progress }, isRunCurrent(ledgerId, basis))
    .onConflictDoUpdate({ target: ledgers.ledgerId, set: { ...(run.verifiedTree !== null && afterSuccess), ...progress } })
    .returning({ ledgerId: ledgers.ledgerId });
};

/** Builds a condition that is true if `storeLedgerRun` has stored this run in the same batch. */
export const isStoredRun = (ledgerId: string, runId: string): SQL =>
  existsIn(ledgers, eq(ledgers.ledgerId, ledgerId), eq(ledgers.lastRun, runId));

/** Stores two contradictory signed trees as evidence. The service then does not use the ledger until an operator has reviewed them. */
export const recordLedgerFork = (db: Database, ledgerId: string, fork: { readonly old: string; readonly new: string }, now: Instant) =>
  db
    .insert(ledgers)
    .values({ ledgerId, fork, updatedAt: now })
    .onConflictDoUpdate({
      target: ledgers.ledgerId,
      set: { fork: sql`coalesce(${ledgers.fork}, ${excluded(ledgers.fork)})`, updatedAt: now },
    });
