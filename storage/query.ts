// Conditions, lists and sub-selects shared by the queries of the storage layer.
import { and, count, exists, getColumnTable, getTableName, notExists, sql, type Column, type SQL } from "drizzle-orm";
import { QueryBuilder, type SQLiteTable } from "drizzle-orm/sqlite-core";

/** A condition that decides whether a statement writes. Modules outside the storage layer only pass it on. */
export type Condition = SQL;

/** Builds sub-selects, which are not tied to a database. */
export const query = new QueryBuilder();

/** Combines all conditions. Unlike `and`, it does not accept undefined, which would match all rows. */
export const allOf = (...conditions: readonly [SQL, SQL, ...SQL[]]): SQL => and(...conditions) as SQL;

type Conditions = readonly [SQL, ...SQL[]];
const selectFrom = (table: SQLiteTable, conditions: Conditions, value: SQL) =>
  query
    .select({ value })
    .from(table)
    .where(and(...conditions));

/**
 * `existsIn` and `notExistsIn` build a condition that is true if the table has, or does not have, rows that match all the given conditions.
 * `countIn` counts these rows.
 */
export const existsIn = (table: SQLiteTable, ...conditions: Conditions): SQL => exists(selectFrom(table, conditions, sql`1`));
export const notExistsIn = (table: SQLiteTable, ...conditions: Conditions): SQL => notExists(selectFrom(table, conditions, sql`1`));
export const countIn = (table: SQLiteTable, ...conditions: Conditions): SQL<number> => sql`${selectFrom(table, conditions, count())}`;

/** Builds a condition that is true if the preceding statement of the batch changed a row. */
export const hasPreviousChange = (): SQL => sql`changes() > 0`;

/** Returns a list as one bound value for `inArray`, because D1 binds at most 100 values per statement. */
export const jsonList = (values: readonly (string | number)[]): SQL => sql`(select value from json_each(${JSON.stringify(values)}))`;

/**
 * Returns rows as one bound value that a statement can read: `each` is the table, `cell` selects a field, and `order` is the row's
 * position.
 */
export const jsonTable = <Row extends object>(rows: readonly Row[]) => ({
  each: sql`json_each(${JSON.stringify(rows)}) j`,
  cell: <Key extends keyof Row & string>(key: Key) => sql<Row[Key]>`j.value ->> ${sql.raw(`'${key}'`)}`,
  order: sql`j.key`,
});

/**
 * Prefixes columns with their table's name, for a join in a batch. A batch returns rows by column name, so columns with the same name would
 * collide.
 */
export const withTablePrefix = <F extends Readonly<Record<string, Column>>>(fields: F): F =>
  Object.fromEntries(
    Object.entries(fields).map(([key, column]) => [key, column.as(`${getTableName(getColumnTable(column))}_${column.name}`)]),
  ) as unknown as F;
