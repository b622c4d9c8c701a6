// The change log of a shard: one row for each committed change, in commit order. Readers do the work that follows from a change. Each
// reader stores the last change it has read, and rows that all readers have passed are deleted. docs/internals/change-log.md explains the
// design.
import { desc, eq, inArray, lte, or, sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Backoff } from "../core/retry.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { bulkInsert, excluded } from "./inserts.ts";
import { allOf, existsIn, jsonList, jsonTable, query } from "./query.ts";
import { changeExceptions, changeReaders, changes } from "./schema.ts";

export type NewChange = Omit<typeof changes.$inferInsert, "ord">;

/** Appends changes in order. The last one gets `lastChangeOrd`, which later statements of the same batch can use. */
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

/** The number of the newest change. In a batch that has appended changes, this is the last of them. */
export const lastChangeOrd = sql<number>`(select max(${sql.identifier(changes.ord.name)}) from ${changes})`;

/** The number that the next appended change will get. In a batch, this is the first change that later statements append. */
export const nextChangeOrd = sql<number>`(select coalesce(max(${sql.identifier(changes.ord.name)}), 0) + 1 from ${changes})`;

/** A change that a reader has reached. The ID shows whether the number still belongs to the same change. */
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
 * Returns the number of the last change that a reader has read. If the log no longer contains that change, the database was restored to an
 * earlier state. The reader then starts with the oldest change that the log contains, and must recognize what it has already done. A new
 * reader starts there as well.
 */
export const readerOffset = (reader: SQL | string): SQL<number> =>
  sql`coalesce(
    (select ${changeReaders.ord} from ${changeReaders} where ${changeReaders.reader} = ${reader} and ${isPresent(changeReaders)}),
    (select min(${changes.ord}) - 1 from ${changes}), 0)`;

/** Selects the position of the newest change. Read it in the same transaction as the work, so that no change between the two is missed. */
export const selectNewestChange = (db: Database | DrizzleD1Database) =>
  db.select({ ord: changes.ord, id: changes.id }).from(changes).orderBy(desc(changes.ord)).limit(1);

/** Stores the position of a reader. A position behind the current one is ignored unless the database was restored to an earlier state. */
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
 * Takes a reader's lease for `holder` if no other worker holds it and `hasWork` is true. Returns a row if it was taken. Readers that run
 * outside of an object need a lease, because two workers would otherwise do the same work at the same time.
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

/** Builds a condition that is true if a worker still holds a reader's lease. A worker whose lease has expired must not write. */
export const holdsReader = (reader: string, holder: string): SQL =>
  existsIn(changeReaders, eq(changeReaders.reader, reader), eq(changeReaders.lease, holder));

const isHeldBy = (reader: string, holder: string): SQL => allOf(eq(changeReaders.reader, reader), eq(changeReaders.lease, holder));

/** Gives a reader's lease back. With `ord`, also stores that the reader has read everything up to this change. */
export const releaseReader = (db: Database, reader: string, holder: string, ord: number | null = null) => {
  const id = sql`coalesce((select ${changes.id} from ${changes} where ${changes.ord} = ${ord}), '')`;
  return db
    .update(changeReaders)
    .set({ lease: null, leaseUntil: 0, ...(ord !== null && { ord, id }) })
    .where(isHeldBy(reader, holder));
};

/**
 * Deletes up to `max` changes that all of these readers have passed, oldest first, except those that match a condition of `needed`. The
 * last change that the slowest reader has read stays, so that its number is not used again and a restored database is noticed.
 */
export const deletePassedChanges = (db: Database, readers: readonly string[], needed: readonly [SQL, ...SQL[]], max: number) => {
  // A ledger that is no longer configured keeps its position until its statements have been moved to the current ledger.
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

/** Something that a reader could not process: an event sequence that is unavailable, or a change that is malformed. */
export interface ChangeException {
  readonly subject: string;
  /** The number of the first change that waits for the subject. */
  readonly ord: number;
}

/** Sets subjects aside for one reader, so that the reader can pass their changes. Does nothing for subjects that are already set aside. */
export const setAside = (db: Database, reader: string, exceptions: readonly ChangeException[], nextAt: Instant, now: Instant) => {
  const { each, cell } = jsonTable(exceptions);
  return db
    .insert(changeExceptions, "reader", "subject", "ord", "nextAt", "createdAt")
    .select(sql`select ${reader}, ${cell("subject")}, ${cell("ord")}, ${nextAt}, ${now} from ${each} where true`)
    .onConflictDoNothing();
};

/** Selects the subjects that a reader has set aside and that are due again, oldest change first. */
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
 * Deletes exceptions that the reader has processed up to the change `readUpTo`. If another run of the reader has passed that change, it may
 * have set aside later changes of these subjects, so the exceptions stay.
 */
export const deleteExceptions = (db: Database, reader: string, subjects: readonly string[], readUpTo: number) =>
  db.delete(changeExceptions).where(allOf(areExceptions(reader, subjects), sql`${readerOffset(reader)} <= ${readUpTo}`));

/** Postpones the next attempt for these subjects. The delay grows with each failure. */
export const postponeExceptions = (db: Database, reader: string, subjects: readonly string[], { firstMs, maxMs }: Backoff, now: Instant) =>
  db
    .update(changeExceptions)
    .set({
      attempts: sql`${changeExceptions.attempts} + 1`,
      nextAt: sql`${now} + min(${maxMs}, ${firstMs} << min(${changeExceptions.attempts}, 20))`,
    })
    .where(areExceptions(reader, subjects));
