// Anchors: statements for the ledger, and their receipts. New statements are found with the change log. Statements that failed are found by
// their due time. A receipt is stored only once.
import { desc, eq, gt, inArray, isNull, lte, ne, notInArray, sql, type SQL } from "drizzle-orm";
import type { PublishedAnchor } from "../core/certificates/published-certificate.ts";
import type { SubmissionOutcome, LedgerSubmission } from "../core/ledger/adapter.ts";
import { parseReceipt, formatReceipt } from "../core/ledger/receipt.ts";
import { scheduleRetry, type AttemptHistory } from "../core/ledger/retries.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { claimReader, holdsReader, lastChangeOrd, readerOffset, releaseReader, selectNewestChange } from "./changes.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf, existsIn, jsonTable, query } from "./query.ts";
import { anchors, changeReaders } from "./schema.ts";

const leaseMs = minuteMs; // longer than one call to the slowest ledger (30 s) plus ten requests for a checkpoint

const { event, receipt, anchoredAt } = anchors;
const { ord, statement, entryHash, prepared, attempts, lastError, status, nextAt } = anchors;
// Inlined, because SQLite uses the index anchors_failed only if the condition contains no bound value.
const isPendingAnchor = inArray(status, ["pending", "prepared"]).inlineParams();
const hasFailed = sql`${attempts} > 0 and ${status} <> 'anchored'`;
const isUnanchored = ne(status, "anchored");

const readerPrefix = "ledger/";

/** Returns the name of a ledger in the change log. */
export const getLedgerReader = (ledgerId: string): string => `${readerPrefix}${ledgerId}`;

/** An anchor's published fields. */
export const anchorFields = { event, ledgerId: anchors.ledgerId, entryHash, statement, status, receipt, anchoredAt };

/**
 * Takes up to `max` statements for a ledger: those that failed and are due again, then new ones, each oldest first. They belong to `holder`
 * until `finishAnchors` or `releaseAnchors`, or for one minute. Returns null if another worker is submitting or there is nothing to read.
 * `readUpTo` is the last change that these statements cover; null if none can be passed.
 */
export const claimAnchors = async (db: Database, ledgerId: string, holder: string, max: number, now: Instant) => {
  const reader = getLedgerReader(ledgerId);
  const isDue = allOf(eq(anchors.ledgerId, ledgerId), hasFailed, isPendingAnchor, lte(nextAt, now));
  const isNew = allOf(sql`${ord} > ${readerOffset(reader)}`, eq(anchors.ledgerId, ledgerId), eq(attempts, 0), isPendingAnchor);
  const fields = { ord, statement, entryHash, prepared, attempts, lastError };
  const hasWork = sql`(${lastChangeOrd} > ${readerOffset(reader)} or ${existsIn(anchors, isDue)})`;
  const [claimed, failed, fresh, [newest]] = await batch(db, [
    claimReader(db, reader, { holder, until: now + leaseMs }, now, hasWork),
    db.select(fields).from(anchors).where(isDue).orderBy(ord).limit(max),
    db
      .select(fields)
      .from(anchors)
      .where(isNew)
      .orderBy(ord)
      .limit(max + 1),
    selectNewestChange(db),
  ]);
  if (claimed.length === 0) return null;
  const taken = fresh.slice(0, max - failed.length);
  const statements = [...failed, ...taken].map((anchor): LedgerSubmission & AttemptHistory & { readonly ord: number } => anchor);
  return { statements, readUpTo: (taken.length < fresh.length ? taken.at(-1)?.ord : newest?.ord) ?? null };
};

export type ClaimedAnchor = Found<typeof claimAnchors>["statements"][number];

export interface PreparedAnchor {
  readonly ord: number;
  readonly prepared: string;
}

/** Saves the prepared submissions before they are sent, so that a retry sends the same bytes. */
export const savePreparedAnchors = async (
  db: Database,
  ledgerId: string,
  holder: string,
  submissions: readonly PreparedAnchor[],
): Promise<void> => {
  if (submissions.length === 0) return;
  const { each, cell } = jsonTable(submissions);
  await db
    .update(anchors)
    .set({ prepared: cell("prepared"), status: "prepared" })
    .from(each)
    .where(allOf(eq(ord, cell("ord")), holdsReader(getLedgerReader(ledgerId), holder), isNull(prepared)));
};

const rowsPerStatement = 100; // a receipt is about 3 KB, so 300 KB of JSON per statement; D1 allows 2 MB for a value

const toChunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/**
 * Returns the statements that store the outcomes of claimed statements and end the lease. They change nothing if another worker has taken
 * the lease. The last one ends the lease.
 */
export const finishAnchors = (
  db: Database,
  ledgerId: string,
  holder: string,
  readUpTo: number | null,
  results: readonly { readonly anchor: ClaimedAnchor; readonly outcome: SubmissionOutcome }[],
  now: Instant,
  random: () => number,
): readonly Statement[] => {
  const anchored = results.flatMap(({ anchor: { ord: of }, outcome }) =>
    outcome.ok ? [{ ord: of, txRef: outcome.receipt.tx_ref, receipt: formatReceipt(outcome.receipt) }] : [],
  );
  const waiting = results.flatMap(({ anchor, outcome }) =>
    outcome.ok ? [] : [{ ord: anchor.ord, ...scheduleRetry(anchor, outcome, now, random()) }],
  );
  const reader = getLedgerReader(ledgerId);
  const isHeld = (of: SQL<number>): SQL => allOf(eq(ord, of), holdsReader(reader, holder), isUnanchored);
  return [
    ...toChunks(anchored, rowsPerStatement)
      .map(jsonTable)
      .map(({ each, cell }) =>
        db
          .update(anchors)
          .set({ status: "anchored", txRef: cell("txRef"), receipt: cell("receipt"), anchoredAt: now, lastError: null })
          .from(each)
          .where(isHeld(cell("ord"))),
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
          })
          .from(each)
          .where(isHeld(cell("ord"))),
      ),
    releaseReader(db, reader, holder, readUpTo),
  ];
};

/** Gives claimed statements back unchanged. */
export const releaseAnchors = (db: Database, ledgerId: string, holder: string) => releaseReader(db, getLedgerReader(ledgerId), holder);

/**
 * Makes all waiting rows due immediately after a ledger outage. Otherwise the oldest statements would be sent last, because they have the
 * most failed attempts.
 */
export const wakePendingAnchors = (db: Database, ledgerId: string, now: Instant) =>
  db
    .update(anchors)
    .set({ nextAt: now })
    .where(allOf(eq(anchors.ledgerId, ledgerId), hasFailed, isPendingAnchor, gt(nextAt, now)));

/** Makes parked rows pending again once their wait is over. */
export const unparkAnchors = (db: Database, now: Instant) =>
  db
    .update(anchors)
    .set({ status: "pending" })
    .where(allOf(hasFailed, eq(status, "parked"), lte(nextAt, now)));

/**
 * Returns the statements that move pending event statements from earlier ledgers to the current one, because an earlier ledger no longer
 * accepts statements. Checkpoints are not moved, because they have separate rows for each ledger. An earlier ledger stops reading the
 * change log, so its new statements are moved once.
 */
export const movePendingAnchors = (db: Database, ledgerId: string, ledgerIds: readonly string[], now: Instant): readonly Statement[] => {
  const isEarlier = allOf(notInArray(anchors.ledgerId, [...ledgerIds]), eq(anchors.kind, "event"), isPendingAnchor);
  const isEarlierReader = allOf(
    sql`${changeReaders.reader} glob ${`${readerPrefix}*`}`,
    notInArray(changeReaders.reader, ledgerIds.map(getLedgerReader)),
    lte(changeReaders.leaseUntil, now),
  );
  const firstUnread = query
    .select({ ord: sql`min(${changeReaders.ord})`.as("first_unread") })
    .from(changeReaders)
    .where(isEarlierReader);
  // One attempt, so that they are found among those that failed.
  const move = { ledgerId, status: "pending", prepared: null, attempts: 1, nextAt: now } as const;
  return [
    db.update(anchors).set(move).where(allOf(hasFailed, isEarlier)),
    db
      .update(anchors)
      .set(move)
      .where(allOf(sql`${ord} > ${firstUnread}`, isEarlier)),
    db.delete(changeReaders).where(isEarlierReader),
  ];
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
