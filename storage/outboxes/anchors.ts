// Anchors: statements waiting to be added to the ledger. The rows are the source of truth; queue messages are only notifications. A worker
// holds rows under a lease and loses them when the lease expires. A receipt is stored only once.
import { desc, eq, gt, inArray, isNull, lte, ne, sql, type Column, type SQL } from "drizzle-orm";
import type { PublishedAnchor } from "../../core/certificates/published-certificate.ts";
import type { SubmissionOutcome, LedgerSubmission } from "../../core/ledger/adapter.ts";
import { parseReceipt, formatReceipt } from "../../core/ledger/receipt.ts";
import { scheduleRetry, type AttemptHistory } from "../../core/ledger/retries.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { Database, Found, Statement } from "../database.ts";
import { createLookup, type Lookup } from "../lookups.ts";
import { allOf, jsonTable, query } from "../query.ts";
import { anchors } from "../schema.ts";

const leaseMs = minuteMs; // longer than one call to the slowest ledger (30 s) plus ten requests for a checkpoint

const { event, receipt, anchoredAt } = anchors;
const { ord, id, statement, entryHash, prepared, attempts, lastError, lease, leaseUntil, status, nextAt } = anchors;
// Inlined, because SQLite uses the index anchors_due only if the condition contains no bound value.
const isPendingAnchor = inArray(status, ["pending", "prepared"]).inlineParams();
const isUnanchored = ne(status, "anchored");

/** An anchor's published fields. */
export const anchorFields = { event, ledgerId: anchors.ledgerId, entryHash, statement, status, receipt, anchoredAt };

/** Takes up to `max` rows that are due for a ledger, oldest first, and leases them to `holder`. */
export const claimAnchors = async (db: Database, ledgerId: string, holder: string, max: number, now: Instant) => {
  const due = query
    .select({ ord })
    .from(anchors)
    .where(allOf(eq(anchors.ledgerId, ledgerId), isPendingAnchor, lte(nextAt, now), lte(leaseUntil, now)))
    .orderBy(ord)
    .limit(max);
  const claimed = await db
    .update(anchors)
    .set({ lease: holder, leaseUntil: now + leaseMs })
    .where(inArray(ord, due))
    .returning({ ord, anchorId: id, statement, entryHash, prepared, attempts, lastError });
  return claimed.sort((a, b) => a.ord - b.ord).map(({ ord: _, ...anchor }): LedgerSubmission & AttemptHistory => anchor);
};

export type ClaimedAnchor = Found<typeof claimAnchors>[number];

export interface PreparedAnchor {
  readonly anchorId: string;
  readonly prepared: string;
}

/** Saves the prepared submissions before they are sent, so that a retry sends the same bytes. */
export const savePreparedAnchors = async (db: Database, holder: string, submissions: readonly PreparedAnchor[]): Promise<void> => {
  if (submissions.length === 0) return;
  const { each, cell } = jsonTable(submissions);
  await db
    .update(anchors)
    .set({ prepared: cell("prepared"), status: "prepared" })
    .from(each)
    .where(allOf(eq(id, cell("anchorId")), eq(lease, holder), isNull(prepared)));
};

const rowsPerStatement = 100; // a receipt is about 3 KB, so 300 KB of JSON per statement; D1 allows 2 MB for a value

const toChunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** Returns the statements that store the outcomes of claimed rows. A row whose lease was lost is left to its new holder. */
export const updateAnchorOutcomes = (
  db: Database,
  holder: string,
  results: readonly { readonly anchor: ClaimedAnchor; readonly outcome: SubmissionOutcome }[],
  now: Instant,
  random: () => number,
): readonly Statement[] => {
  const anchored = results.flatMap(({ anchor: { anchorId }, outcome }) =>
    outcome.ok ? [{ anchorId, txRef: outcome.receipt.tx_ref, receipt: formatReceipt(outcome.receipt) }] : [],
  );
  const waiting = results.flatMap(({ anchor, outcome }) =>
    outcome.ok ? [] : [{ anchorId: anchor.anchorId, ...scheduleRetry(anchor, outcome, now, random()) }],
  );
  const isHeld = (anchorId: SQL<string>): SQL => allOf(eq(id, anchorId), eq(lease, holder), isUnanchored);
  return [
    ...toChunks(anchored, rowsPerStatement)
      .map(jsonTable)
      .map(({ each, cell }) =>
        db
          .update(anchors)
          .set({ status: "anchored", txRef: cell("txRef"), receipt: cell("receipt"), anchoredAt: now, lease: null, lastError: null })
          .from(each)
          .where(isHeld(cell("anchorId"))),
      ),
    ...toChunks(waiting, rowsPerStatement)
      .map(jsonTable)
      .map(({ each, cell }) =>
        db
          .update(anchors)
          .set({
            status: sql`iif(${cell("isParked")}, 'parked', ${status})`,
            attempts: sql`${attempts} + 1`,
            nextAt: cell("at"),
            lastError: cell("error"),
            lease: null,
            leaseUntil: 0,
          })
          .from(each)
          .where(isHeld(cell("anchorId"))),
      ),
  ];
};

/** Releases claimed rows unchanged. */
export const releaseAnchors = (db: Database, holder: string) =>
  db
    .update(anchors)
    .set({ lease: null, leaseUntil: 0 })
    .where(allOf(eq(lease, holder), isUnanchored));

/**
 * Makes all waiting rows due immediately after a ledger outage. Otherwise the oldest statements would be sent last, because they have the
 * most failed attempts.
 */
export const wakePendingAnchors = (db: Database, ledgerId: string, now: Instant) =>
  db
    .update(anchors)
    .set({ nextAt: now })
    .where(allOf(eq(anchors.ledgerId, ledgerId), isPendingAnchor, gt(nextAt, now)));

/** Makes parked rows pending again once their wait is over. */
export const unparkAnchors = (db: Database, now: Instant) =>
  db
    .update(anchors)
    .set({ status: "pending" })
    .where(allOf(eq(status, "parked"), lte(nextAt, now)));

/**
 * Moves pending event statements from an earlier ledger to its replacement, because the earlier ledger no longer accepts statements.
 * Checkpoints are not moved, because they have separate rows for each ledger. Skips statements that the new ledger already has (OR IGNORE,
 * which the query builder does not support).
 */
export const movePendingAnchors = (db: Database, ledgerId: string, now: Instant) => {
  const isEarlier = allOf(isPendingAnchor, ne(anchors.ledgerId, ledgerId), eq(anchors.kind, "event"), lte(leaseUntil, now));
  const to = (column: Column, value: string | number | null): SQL => sql`${sql.identifier(column.name)} = ${value}`;
  const set = [
    to(anchors.ledgerId, ledgerId),
    to(status, "pending" satisfies typeof anchors.$inferInsert.status),
    to(prepared, null),
    to(attempts, 0),
    to(nextAt, now),
    to(lease, null),
    to(leaseUntil, 0),
  ];
  return db.run(
    sql`update or ignore ${anchors} set ${sql.join(set, sql`, `)}
      where ${ord} in (select ${ord} from ${anchors} indexed by anchors_due where ${isEarlier})`,
  );
};

const isAnchored = eq(status, "anchored");

/** Lists the anchor statements about one record in commit order, each with its receipt once confirmed. */
export const listEntityAnchors = async (db: Database, entityId: string) => {
  const rows = await db.select({ event, statement, status, receipt }).from(anchors).where(eq(anchors.entityId, entityId)).orderBy(ord);
  return rows.map((row) => ({
    event: row.event,
    statement: row.statement,
    receipt: row.status !== "anchored" || row.receipt === null ? null : parseReceipt(row.receipt),
  }));
};

export type EntityAnchor = Found<typeof listEntityAnchors>[number];

/** Returns the newest confirmed anchor of a log's checkpoints, or null if none has been confirmed yet. */
export const findNewestCheckpointAnchor = (db: Database, ledgerId: string, origin: string): Lookup<PublishedAnchor | null> => {
  const newest = db
    .select(anchorFields)
    .from(anchors)
    .where(allOf(eq(anchors.entityId, origin), eq(anchors.ledgerId, ledgerId), eq(anchors.kind, "checkpoint"), isAnchored))
    .orderBy(desc(ord))
    .limit(1);
  return createLookup(db, [newest], ([[row]]) => row ?? null);
};
