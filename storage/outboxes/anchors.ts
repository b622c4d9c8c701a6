// Statements on their way into the ledger. The rows are the truth; queue messages are only notices. A row is worked on under a lease:
// whoever's lease has passed lost it, and a receipt is stored once.
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

const leaseMs = minuteMs; // longer than a call to the slowest ledger (30 s) and asking ten times for a checkpoint

const { event, receipt, anchoredAt } = anchors;
const { ord, id, statement, entryHash, prepared, attempts, lastError, lease, leaseUntil, status, nextAt } = anchors;
// In the statement as it is in the index anchors_due, or SQLite does not take that index: never a bound value.
const isPendingAnchor = inArray(status, ["pending", "prepared"]).inlineParams();
const isUnanchored = ne(status, "anchored");

/** What is published of a statement. */
export const anchorFields = { event, ledgerId: anchors.ledgerId, entryHash, statement, status, receipt, anchoredAt };

/** The oldest due rows of a ledger, leased to `holder`. */
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

/** Keeps what will be sent, before it is sent. */
export const savePreparedAnchors = async (db: Database, holder: string, kept: readonly PreparedAnchor[]): Promise<void> => {
  if (kept.length === 0) return;
  const { each, cell } = jsonTable(kept);
  await db
    .update(anchors)
    .set({ prepared: cell("prepared"), status: "prepared" })
    .from(each)
    .where(allOf(eq(id, cell("anchorId")), eq(lease, holder), isNull(prepared)));
};

const rowsPerStatement = 100; // receipts are about 3 KB: 300 KB of JSON a statement, far from the 2 MB a value may have

const toChunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** Rows that store what became of a claimed batch. A row whose lease was lost is left to whoever has it now. */
export const updateAnchorOutcomes = (
  db: Database,
  holder: string,
  settled: readonly { readonly anchor: ClaimedAnchor; readonly outcome: SubmissionOutcome }[],
  now: Instant,
  random: () => number,
): readonly Statement[] => {
  const anchored = settled.flatMap(({ anchor: { anchorId }, outcome }) =>
    outcome.ok ? [{ anchorId, txRef: outcome.receipt.tx_ref, receipt: formatReceipt(outcome.receipt) }] : [],
  );
  const waiting = settled.flatMap(({ anchor, outcome }) =>
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

/** Gives claimed rows back untouched, due when they were. */
export const releaseAnchors = (db: Database, holder: string) =>
  db
    .update(anchors)
    .set({ lease: null, leaseUntil: 0 })
    .where(allOf(eq(lease, holder), isUnanchored));

/**
 * The ledger is back: what waited because it was away is due now. The oldest statements asked most often whether it is, and so
 * would be the last to be taken.
 */
export const wakePendingAnchors = (db: Database, ledgerId: string, now: Instant) =>
  db
    .update(anchors)
    .set({ nextAt: now })
    .where(allOf(eq(anchors.ledgerId, ledgerId), isPendingAnchor, gt(nextAt, now)));

/** Parked rows become due again when their wait has passed. */
export const unparkAnchors = (db: Database, now: Instant) =>
  db
    .update(anchors)
    .set({ status: "pending" })
    .where(allOf(eq(status, "parked"), lte(nextAt, now)));

/**
 * Statements that still waited for an earlier ledger when another took its place go to that one: the earlier takes nothing any more.
 * Mirrors have none of this kind. One that is there already stays (OR IGNORE), for which the builder has no word.
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

/** What the ledger of its time holds, or will hold, about one record: the statement and, once confirmed, its receipt. In the order of their commits. */
export const listEntityAnchors = async (db: Database, entityId: string) => {
  const rows = await db.select({ event, statement, status, receipt }).from(anchors).where(eq(anchors.entityId, entityId)).orderBy(ord);
  return rows.map((row) => ({
    event: row.event,
    statement: row.statement,
    receipt: row.status !== "anchored" || row.receipt === null ? null : parseReceipt(row.receipt),
  }));
};

export type EntityAnchor = Found<typeof listEntityAnchors>[number];

/** The newest statement about a log's checkpoint that the ledger has confirmed; null before the first. */
export const findNewestCheckpointAnchor = (db: Database, ledgerId: string, origin: string): Lookup<PublishedAnchor | null> => {
  const newest = db
    .select(anchorFields)
    .from(anchors)
    .where(allOf(eq(anchors.entityId, origin), eq(anchors.ledgerId, ledgerId), eq(anchors.kind, "checkpoint"), isAnchored))
    .orderBy(desc(ord))
    .limit(1);
  return createLookup(db, [newest], ([[row]]) => row ?? null);
};
