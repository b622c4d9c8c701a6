// The change log of a shard: one row for each committed change, in commit order. Readers do the background work that changes require. Each
// reader stores its position, and changes that all readers have read are deleted. docs/internals/change-log.md explains the design.
import { and, desc, eq, inArray, lte, or, sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Backoff } from "../core/retry.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { bulkInsert, excluded, insertIf } from "./inserts.ts";
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

/** The last change that a run has read. The ID is included because another change can have the same number after a database restore. */
export interface ChangePosition {
  readonly ord: number;
  readonly id: string;
}

/**
 * Builds a condition that is true if the log still contains this change. If it does not, the database was restored to an earlier state
 * after a run read the change. That run must not store its position. The next run starts at the restored position, and must recognize work
 * that is already done.
 */
export const isInLog = ({ ord, id }: ChangePosition): SQL => existsIn(changes, eq(changes.ord, ord), eq(changes.id, id));

/** Selects a reader's position in `change_readers`. */
export const positionInReaders = (reader: SQL | string): SQL =>
  sql`select ${changeReaders.ord} from ${changeReaders} where ${changeReaders.reader} = ${reader}`;

/** Selects the number of the last change that a reader has read. A reader without a position starts with the oldest change in the log. */
export const readerOffset = (position: SQL): SQL<number> =>
  sql`coalesce((${position}), (select min(${changes.ord}) - 1 from ${changes}), 0)`;

/** Selects the newest change. Use it in the same transaction as the query for the work. Otherwise, a reader could skip a change. */
export const selectNewestChange = (db: Database | DrizzleD1Database) =>
  db.select({ ord: changes.ord, id: changes.id }).from(changes).orderBy(desc(changes.ord)).limit(1);

/** Stores a reader's position if it is later than the stored one (`offset`) and the log still contains the change. */
export const advanceReader = (db: Database, reader: string, offset: SQL<number>, position: ChangePosition) =>
  insertIf(db, changeReaders, { reader, ord: position.ord }, sql`${position.ord} > ${offset} and ${isInLog(position)}`).onConflictDoUpdate({
    target: changeReaders.reader,
    set: { ord: excluded(changeReaders.ord) },
  });

/**
 * Deletes up to `max` changes that all of these readers have read, oldest first. Keeps changes that match a condition in `needed`. Also
 * keeps the last change that all readers have read, because if it were the newest change, its number could be reused after the deletion.
 */
export const deletePassedChanges = (
  db: Database,
  /** The numbers of the last changes that the readers have read. */
  offsets: readonly [SQL<number>, ...SQL<number>[]],
  needed: readonly [SQL, ...SQL[]],
  max: number,
) => {
  const isPassed = offsets.map((offset) => sql`${changes.ord} < ${offset}`) as [SQL, ...SQL[]];
  const passed = query
    .select({ ord: changes.ord })
    .from(changes)
    .where(and(...isPassed, sql`not ${or(...needed)}`))
    .orderBy(changes.ord)
    .limit(max);
  return db.delete(changes).where(inArray(changes.ord, passed));
};

/** Builds a condition that is true if a reader has set a subject aside. */
export const isSetAside = (reader: SQL | string, subject: SQL): SQL =>
  existsIn(changeExceptions, sql`${changeExceptions.reader} = ${reader}`, sql`${changeExceptions.subject} = ${subject}`);

/** A subject that a reader could not process, for example an event sequence that did not respond, or a change with malformed entries. */
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
 * Deletes the exceptions of subjects whose changes up to `readUpTo` were processed. Does nothing if another run of the reader is already
 * past `readUpTo`, because later changes of these subjects may not have been processed.
 */
export const deleteExceptions = (
  db: Database,
  reader: string,
  subjects: readonly string[],
  { offset, readUpTo }: { readonly offset: SQL<number>; readonly readUpTo: number },
) => db.delete(changeExceptions).where(allOf(areExceptions(reader, subjects), sql`${offset} <= ${readUpTo}`));

/** Schedules the next retry. The delay doubles with each failure, up to `maxMs`. */
export const postponeExceptions = (db: Database, reader: string, subjects: readonly string[], { firstMs, maxMs }: Backoff, now: Instant) =>
  db
    .update(changeExceptions)
    .set({
      attempts: sql`${changeExceptions.attempts} + 1`,
      nextAt: sql`${now} + min(${maxMs}, ${firstMs} << min(${changeExceptions.attempts}, 20))`,
    })
    .where(areExceptions(reader, subjects));
