// The change log of a shard: one row for each committed change, in commit order. Readers do the background work that a change requires.
// Each reader stores its position, and changes that all readers have passed are deleted. docs/internals/change-log.md explains the design.
import { desc, eq, inArray, lte, or, sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Backoff } from "../core/retry.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { bulkInsert, excluded } from "./inserts.ts";
import { allOf, existsIn, jsonList, jsonTable, query } from "./query.ts";
import { changeExceptions, changeReaders, changes } from "./schema.ts";

export type NewChange = Omit<typeof changes.$inferInsert, "ord">;

/** Appends changes in order. Later statements in the batch can use `lastChangeOrd` to get the number of the last one. */
export const appendChanges = bulkInsert(changes, [
  "id",
  "type",
  "entityType",
  "entityId",
  "at",
  "sequence",
  "eventAt",
  "ledgerId",
  "statement",
  "chain",
  "auditLog",
  "payloadHash",
  "payload",
]);

/** Selects the number of the newest change. */
export const lastChangeOrd = sql<number>`(select max(${sql.identifier(changes.ord.name)}) from ${changes})`;

/** Selects the number that the next change will get. */
export const nextChangeOrd = sql<number>`(select coalesce(max(${sql.identifier(changes.ord.name)}), 0) + 1 from ${changes})`;

/** The last change that a reader has read. The ID is included because another change can have the same number after a database restore. */
export interface ChangePosition {
  readonly ord: number;
  readonly id: string;
}

const isPresent = (position: typeof changeReaders): SQL =>
  sql`exists ${query
    .select({ one: sql`1` })
    .from(changes)
    .where(allOf(eq(changes.ord, position.ord), eq(changes.id, position.id)))}`;

/**
 * Selects the number of the last change that a reader has read. If the log does not contain that change, the database was restored to an
 * earlier state. The reader then starts with the oldest change in the log, like a new reader, and must recognize what it has already done.
 */
export const readerOffset = (reader: SQL | string): SQL<number> =>
  sql`coalesce(
    (select ${changeReaders.ord} from ${changeReaders} where ${changeReaders.reader} = ${reader} and ${isPresent(changeReaders)}),
    (select min(${changes.ord}) - 1 from ${changes}), 0)`;

/** Selects the newest change. Use it in the transaction that reads the work. Otherwise, the reader could skip a change. */
export const selectNewestChange = (db: Database | DrizzleD1Database) =>
  db.select({ ord: changes.ord, id: changes.id }).from(changes).orderBy(desc(changes.ord)).limit(1);

/** Stores a reader's position, unless the stored position is later. After a database restore, always stores it. */
export const advanceReader = (db: Database, reader: string, position: ChangePosition) =>
  db
    .insert(changeReaders)
    .values({ reader, ord: position.ord, id: position.id })
    .onConflictDoUpdate({
      target: changeReaders.reader,
      set: { ord: excluded(changeReaders.ord), id: excluded(changeReaders.id) },
      setWhere: sql`${excluded(changeReaders.ord)} > ${changeReaders.ord} or not ${isPresent(changeReaders)}`,
    });

/**
 * Claims a reader's lease for `holder` if no other worker has it and `hasWork` is true. Returns a row if it has claimed the lease. Readers
 * of ledgers need a lease, because two isolates must not submit the same statements at the same time.
 */
export const claimReader = (
  db: Database,
  reader: string,
  lease: { readonly holder: string; readonly until: Instant },
  now: Instant,
  hasWork: SQL,
) =>
  db
    .insert(changeReaders, "reader", "ord", "id", "lease", "leaseUntil")
    .select(sql`select ${reader}, 0, '', ${lease.holder}, ${lease.until} where ${hasWork}`)
    .onConflictDoUpdate({
      target: changeReaders.reader,
      set: { lease: lease.holder, leaseUntil: lease.until },
      setWhere: lte(changeReaders.leaseUntil, now),
    })
    .returning({ reader: changeReaders.reader });

const isHeldBy = (reader: string, holder: string): SQL => allOf(eq(changeReaders.reader, reader), eq(changeReaders.lease, holder));

/** Builds a condition that is true if no other worker has claimed the reader's lease since `holder` did. */
export const holdsReader = (reader: string, holder: string): SQL => existsIn(changeReaders, isHeldBy(reader, holder));

/** Ends a reader's lease. If `ord` is given, also stores that the reader has read all changes up to `ord`. */
export const releaseReader = (db: Database, reader: string, holder: string, ord: number | null = null) => {
  const id = sql`coalesce((select ${changes.id} from ${changes} where ${changes.ord} = ${ord}), '')`;
  return db
    .update(changeReaders)
    .set({ lease: null, leaseUntil: 0, ...(ord !== null && { ord, id }) })
    .where(isHeldBy(reader, holder));
};

/**
 * Deletes up to `max` changes that all of these readers have passed, oldest first. Keeps changes that match a condition in `needed`, and
 * the last change that the slowest reader has read. If that last change were deleted, its number could be reused, and a database restore
 * would not be detected.
 */
export const deletePassedChanges = (db: Database, readers: readonly string[], needed: readonly [SQL, ...SQL[]], max: number) => {
  // A ledger that is no longer configured stays a reader until its statements are moved to the current ledger.
  const all = sql`(select value as reader from json_each(${JSON.stringify(readers)})
    union select ${changeReaders.reader} from ${changeReaders} where ${changeReaders.reader} glob 'ledger/*')`;
  const slowest = sql`(select min(${readerOffset(sql`j.reader`)}) from ${all} j)`;
  const passed = query
    .select({ ord: changes.ord })
    .from(changes)
    .where(sql`${changes.ord} < ${slowest} and not ${or(...needed)}`)
    .orderBy(changes.ord)
    .limit(max);
  return db.delete(changes).where(inArray(changes.ord, passed));
};

/** Builds a condition that is true if a reader has set a subject aside. */
export const isSetAside = (reader: SQL | string, subject: SQL): SQL =>
  existsIn(changeExceptions, sql`${changeExceptions.reader} = ${reader}`, sql`${changeExceptions.subject} = ${subject}`);

/** A subject that a reader could not process: an event sequence that did not respond, or a change with malformed entries. */
export interface ChangeException {
  readonly subject: string;
  /** The number of the subject's first unprocessed change. */
  readonly ord: number;
}

/** Sets subjects aside, so that the reader can continue with other changes. Does nothing for subjects that are already set aside. */
export const setAside = (db: Database, reader: string, exceptions: readonly ChangeException[], nextAt: Instant, now: Instant) => {
  const { each, cell } = jsonTable(exceptions);
  return db
    .insert(changeExceptions, "reader", "subject", "ord", "nextAt", "createdAt")
    .select(sql`select ${reader}, ${cell("subject")}, ${cell("ord")}, ${nextAt}, ${now} from ${each} where true`)
    .onConflictDoNothing();
};

/** Selects the subjects whose retry is due, oldest change first. */
export const selectDueExceptions = (db: DrizzleD1Database, reader: string, now: Instant, max: number) =>
  db
    .select({ subject: changeExceptions.subject, ord: changeExceptions.ord })
    .from(changeExceptions)
    .where(allOf(eq(changeExceptions.reader, reader), lte(changeExceptions.nextAt, now)))
    .orderBy(changeExceptions.ord)
    .limit(max);

const areExceptions = (reader: string, subjects: readonly string[]): SQL =>
  allOf(eq(changeExceptions.reader, reader), inArray(changeExceptions.subject, jsonList(subjects)));

/**
 * Deletes the exceptions of subjects whose changes up to `readUpTo` were processed. Does nothing if another run of the reader has read
 * further, because this run may not have processed later changes of these subjects.
 */
export const deleteExceptions = (db: Database, reader: string, subjects: readonly string[], readUpTo: number) =>
  db.delete(changeExceptions).where(allOf(areExceptions(reader, subjects), sql`${readerOffset(reader)} <= ${readUpTo}`));

/** Postpones the next attempt. The delay doubles with each failure. */
export const postponeExceptions = (db: Database, reader: string, subjects: readonly string[], { firstMs, maxMs }: Backoff, now: Instant) =>
  db
    .update(changeExceptions)
    .set({
      attempts: sql`${changeExceptions.attempts} + 1`,
      nextAt: sql`${now} + min(${maxMs}, ${firstMs} << min(${changeExceptions.attempts}, 20))`,
    })
    .where(areExceptions(reader, subjects));
