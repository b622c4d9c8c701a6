// Anchors: statements for a ledger, and the ledger's receipts. Receipts are stored in batches. The statement of a live issuance is stored
// in its change, and can later be rebuilt from the certificate. It gets a row in `anchors` only in these cases:
// - The request to the ledger must be stored before it is sent.
// - The ledger does not accept the first attempt.
// - The statement moves to another ledger.
//
// Every other statement has a row from the start. docs/internals/consistency.md explains how failures are handled.
import { desc, eq, gt, inArray, isNotNull, isNull, lte, ne, notExists, notInArray, sql, type SQL } from "drizzle-orm";
import type { SubmissionOutcome, LedgerSubmission } from "../core/ledger/adapter.ts";
import { packReceipts } from "../core/ledger/receipt-batch.ts";
import { scheduleRetry, type AttemptHistory } from "../core/ledger/retries.ts";
import { hashStatement } from "../core/ledger/statement.ts";
import type { Instant } from "../core/time.ts";
import { batch, onPrimary, type Database, type Found, type Statement } from "./database.ts";
import { isRunCurrent, isStoredRun, ledgerOffset, type LedgerRunBasis } from "./ledger-state.ts";
import { allOf, existsIn, jsonList, jsonTable, notExistsIn, query } from "./query.ts";
import { anchors, changes, ledgerState, receipts } from "./schema.ts";

const { ord, statement, prepared, attempts, lastError, status, nextAt } = anchors;
// The values are inlined, because SQLite does not use the partial index anchors_failed for a condition with bound values.
const isPendingAnchor = inArray(status, ["pending", "prepared"]).inlineParams();
const hasFailed = sql`${attempts} > 0 and ${status} <> 'anchored'`;
const isUnanchored = ne(status, "anchored");

/** Matches the row of `receipts` that covers a change. Use it only for changes that have no row in `anchors`. */
const coversChange = (ord: SQL | typeof changes.ord): SQL => sql`${receipts.ord} >= ${ord} and ${receipts.firstOrd} <= ${ord}`;

/**
 * Lists up to `max` statements to submit to a ledger: failed statements whose retry is due, then new ones. Returns null if there are no
 * failed statements to retry and no new changes. `readUpTo` is the number of the last change that these statements cover. The ledger's
 * position moves there after the submission.
 */
export const listDueAnchors = async (db: Database, ledgerId: string, max: number, now: Instant) => {
  const offset = ledgerOffset(ledgerId);
  const isDue = allOf(eq(anchors.ledgerId, ledgerId), hasFailed, isPendingAnchor, lte(nextAt, now));
  const isNew = allOf(sql`${ord} > ${offset}`, eq(anchors.ledgerId, ledgerId), eq(attempts, 0), isPendingAnchor);
  const isNewIssuance = allOf(
    sql`${changes.ord} > ${offset}`,
    eq(changes.ledgerId, ledgerId),
    isNotNull(changes.statement),
    notExistsIn(anchors, eq(ord, changes.ord)),
    notExists(query.select({ one: sql`1` }).from(receipts).where(coversChange(changes.ord))),
  );
  const stored = { ord, statement, prepared, attempts, lastError };
  const primary = onPrimary(db); // to see changes that were just committed
  const [failed, storedRows, issuances, [newest]] = await primary.batch([
    primary.select(stored).from(anchors).where(isDue).orderBy(ord).limit(max),
    primary
      .select(stored)
      .from(anchors)
      .where(isNew)
      .orderBy(ord)
      .limit(max + 1),
    primary
      .select({ ord: changes.ord, statement: sql<string>`${changes.statement}`.as("statement") })
      .from(changes)
      .where(isNewIssuance)
      .orderBy(changes.ord)
      .limit(max + 1),
    primary
      .select({ ord: changes.ord, id: changes.id, offset: offset.as("read_up_to") })
      .from(changes)
      .orderBy(desc(changes.ord))
      .limit(1),
  ]);
  if (newest === undefined || (newest.ord <= newest.offset && failed.length === 0)) return null;
  const toDue = (row: Pick<(typeof storedRows)[number], "ord" | "statement">) => ({
    prepared: null,
    attempts: 0,
    lastError: null,
    ...row,
    entryHash: hashStatement(row.statement),
  });
  const fresh = [...storedRows.map((row) => ({ ...row, isStored: true })), ...issuances.map((row) => ({ ...row, isStored: false }))]
    .sort((a, b) => a.ord - b.ord)
    .slice(0, max + 1);
  const taken = fresh.slice(0, max - failed.length);
  const statements = [...failed.map((row) => ({ ...row, isStored: true })), ...taken].map(
    ({ isStored, ...row }): LedgerSubmission & AttemptHistory & { readonly ord: number; readonly isStored: boolean } => ({
      ...toDue(row),
      isStored,
    }),
  );
  return { statements, newest, readUpTo: taken.length < fresh.length ? (taken.at(-1)?.ord ?? newest.offset) : newest.ord };
};

export type DueAnchor = Found<typeof listDueAnchors>["statements"][number];

export interface PreparedAnchor {
  readonly ord: number;
  readonly prepared: string;
}

/** Copies the statements of these changes into `anchors` if `onlyIf` is true, except those that already have a row. */
const storeStatements = (db: Database, ledgerId: string, ords: readonly number[], onlyIf: SQL) =>
  db
    .insert(anchors, "ord", "ledgerId", "kind", "entityId", "event", "statement", "nextAt", "createdAt")
    .select(
      sql`select ${changes.ord}, ${ledgerId}, 'event', ${changes.entityId}, ${changes.type}, ${changes.statement}, ${changes.at}, ${changes.at}
          from ${changes} where ${allOf(inArray(changes.ord, jsonList(ords)), isNotNull(changes.statement), onlyIf)}`,
    )
    .onConflictDoNothing();

/**
 * Saves the prepared requests before they are sent to the ledger, so that a retry sends the same bytes. Returns the saved requests, which
 * can differ from the given ones if another run has prepared the same statements first. Saves nothing if the run is outdated.
 */
export const savePreparedAnchors = async (
  db: Database,
  ledgerId: string,
  basis: LedgerRunBasis,
  submissions: readonly PreparedAnchor[],
): Promise<ReadonlyMap<number, string | null>> => {
  if (submissions.length === 0) return new Map();
  const { each, cell } = jsonTable(submissions);
  const ords = submissions.map(({ ord }) => ord);
  const isCurrent = isRunCurrent(ledgerId, basis);
  const [, , saved] = await batch(db, [
    storeStatements(db, ledgerId, ords, isCurrent),
    db
      .update(anchors)
      .set({ prepared: cell("prepared"), status: "prepared" })
      .from(each)
      .where(allOf(eq(ord, cell("ord")), isCurrent, isNull(prepared))),
    db
      .select({ ord, prepared })
      .from(anchors)
      .where(inArray(ord, jsonList(ords))),
  ]);
  return new Map(saved.map((row) => [row.ord, row.prepared]));
};

const maxJsonRows = 100; // 100 batches of receipts take about 600 kB of JSON, and D1 allows 2 MB per value

const toChunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

const receiptColumns = [
  "ord",
  "firstOrd",
  "ledgerId",
  "note",
  "leaves",
  "nodes",
  "leafBodies",
  "submittedAt",
  "verifiedAt",
  "anchoredAt",
] as const;

/** Returns the SQL statements that store verified receipts in batches, and link the rows in `anchors` to the batches. */
const storeReceipts = (
  db: Database,
  anchored: readonly { readonly anchor: DueAnchor; readonly outcome: Extract<SubmissionOutcome, { ok: true }> }[],
  now: Instant,
  onlyIf: SQL,
): readonly Statement[] => {
  const derived = new Set(anchored.flatMap(({ anchor }) => (anchor.isStored ? [] : [anchor.ord])));
  const numbered = anchored.map(({ anchor, outcome }) => ({ ord: anchor.ord, receipt: outcome.receipt })).sort((a, b) => a.ord - b.ord);
  const packed = packReceipts(numbered).map(({ batch, ords }) => ({
    ...batch,
    ord: ords.at(-1) as number,
    firstOrd: ords.find((ord) => derived.has(ord)) ?? null,
    anchoredAt: now,
    storedOrds: ords.filter((ord) => !derived.has(ord)),
  }));
  const stored = packed.flatMap(({ ord: receiptOrd, storedOrds }) => storedOrds.map((ord) => ({ ord, receiptOrd })));
  return [
    ...toChunks(packed, maxJsonRows)
      .map(jsonTable)
      .map(({ each, cell }) =>
        db
          .insert(receipts, ...receiptColumns)
          .select(sql`select ${sql.join(receiptColumns.map(cell), sql`, `)} from ${each} where ${onlyIf}`),
      ),
    ...toChunks(stored, maxJsonRows * 10)
      .map(jsonTable)
      .map(({ each, cell }) =>
        db
          .update(anchors)
          .set({ status: "anchored", receiptOrd: cell("receiptOrd"), lastError: null })
          .from(each)
          .where(allOf(eq(ord, cell("ord")), onlyIf, isUnanchored)),
      ),
  ];
};

/**
 * Returns the SQL statements that store the results of a submission. Statements that the ledger did not accept are stored in `anchors` and
 * retried from there, so they do not delay later changes. The SQL statements must come after `storeLedgerRun` in the batch. If
 * `storeLedgerRun` did not store the run, they have no effect.
 */
export const storeOutcomes = (
  db: Database,
  ledgerId: string,
  runId: string,
  results: readonly { readonly anchor: DueAnchor; readonly outcome: SubmissionOutcome }[],
  now: Instant,
): readonly Statement[] => {
  const anchored = results.flatMap(({ anchor, outcome }) => (outcome.ok ? [{ anchor, outcome }] : []));
  const waiting = results.flatMap(({ anchor, outcome }) =>
    outcome.ok ? [] : [{ ord: anchor.ord, isStored: anchor.isStored, ...scheduleRetry(anchor, outcome, now, Math.random()) }],
  );
  const unstored = waiting.filter(({ isStored }) => !isStored).map(({ ord }) => ord);
  const isStored = isStoredRun(ledgerId, runId);
  return [
    ...storeReceipts(db, anchored, now, isStored),
    ...(unstored.length === 0 ? [] : [storeStatements(db, ledgerId, unstored, isStored)]),
    ...toChunks(waiting, maxJsonRows * 10)
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
          .where(allOf(eq(ord, cell("ord")), isStored, isUnanchored)),
      ),
  ];
};

/**
 * Makes all waiting retries due now. Call it after an outage of a ledger. Otherwise, the oldest statements would be sent last, because they
 * have the longest retry delays.
 */
export const wakePendingAnchors = (db: Database, ledgerId: string, now: Instant) =>
  db
    .update(anchors)
    .set({ nextAt: now })
    .where(allOf(eq(anchors.ledgerId, ledgerId), hasFailed, isPendingAnchor, gt(nextAt, now)));

/**
 * Changes parked rows back to pending when their retry is due. Rows are parked for several hours after failures that do not resolve on
 * their own, such as a permanent refusal.
 */
export const unparkAnchors = (db: Database, now: Instant) =>
  db
    .update(anchors)
    .set({ status: "pending" })
    .where(allOf(hasFailed, eq(status, "parked"), lte(nextAt, now)));

const isWaitingForEarlierLedger = (ledgerIds: readonly string[]): SQL =>
  allOf(notInArray(anchors.ledgerId, [...ledgerIds]), eq(anchors.kind, "event"), isPendingAnchor);

/** Matches issuances for ledgers that are not in `ledgerIds`, if the statement has neither a row in `anchors` nor a receipt. */
const isUnreadIssuance = (ledgerIds: readonly string[]): SQL =>
  allOf(
    isNotNull(changes.statement),
    notInArray(changes.ledgerId, [...ledgerIds]),
    notExistsIn(anchors, eq(ord, changes.ord)),
    notExists(query.select({ one: sql`1` }).from(receipts).where(coversChange(changes.ord))),
  );

/** Matches changes whose statement must still be moved to the current ledger (`movePendingAnchors`). */
export const isForEarlierLedger = (ledgerIds: readonly string[]): SQL =>
  sql`(${isUnreadIssuance(ledgerIds)} or ${existsIn(anchors, eq(ord, changes.ord), isWaitingForEarlierLedger(ledgerIds))})`;

/**
 * Returns the SQL statements that move event statements from earlier ledgers to the current one. This includes statements of issuances for
 * which no result of a submission is stored yet, and statements from isolates that still have the earlier settings. The last SQL statement
 * removes the earlier ledgers' positions and makes their runs outdated. Checkpoint statements are not moved, because each ledger gets
 * separate ones.
 */
export const movePendingAnchors = (db: Database, ledgerId: string, ledgerIds: readonly string[], now: Instant): readonly Statement[] => {
  const isEarlier = isWaitingForEarlierLedger(ledgerIds);
  const isEarlierLedger = allOf(isNotNull(ledgerState.ord), notInArray(ledgerState.ledgerId, [...ledgerIds]));
  const oldestChange = query.select({ ord: sql`min(${changes.ord})`.as("oldest") }).from(changes);
  // With `attempts` = 1, `listDueAnchors` finds these rows even if the current ledger's position is already after their changes.
  const move = { ledgerId, status: "pending", prepared: null, attempts: 1, nextAt: now } as const;
  return [
    db.update(anchors).set(move).where(allOf(hasFailed, isEarlier)),
    db
      .update(anchors)
      .set(move)
      .where(allOf(sql`${ord} >= ${oldestChange}`, isEarlier)),
    db
      .insert(anchors, "ord", "ledgerId", "kind", "entityId", "event", "statement", "attempts", "nextAt", "createdAt")
      .select(
        sql`select ${changes.ord}, ${ledgerId}, 'event', ${changes.entityId}, ${changes.type}, ${changes.statement}, 1, ${now}, ${changes.at}
            from ${changes} where ${isUnreadIssuance(ledgerIds)}`,
      )
      .onConflictDoNothing(),
    db.update(ledgerState).set({ ord: null, lastRun: sql`hex(randomblob(16))` }).where(isEarlierLedger),
  ];
};
