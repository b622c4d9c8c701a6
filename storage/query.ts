// Conditions, lists and sub-selects, as every query of the storage layer writes them.
import { and, count, exists, getColumnTable, getTableName, notExists, sql, type Column, type SQL, type SQLWrapper } from "drizzle-orm";
import { QueryBuilder, type SQLiteTable } from "drizzle-orm/sqlite-core";

/** What must hold for a statement to write, as the layers above pass it on. */
export type Condition = SQL;

/** For sub-selects: a query that is part of another and belongs to no database. */
export const query = new QueryBuilder();

/** Every one of them. Unlike `and`, which takes undefined for nothing and then means all rows, it asks for conditions. */
export const allOf = (...conditions: readonly [SQL, SQL, ...SQL[]]): SQL => and(...conditions) as SQL;

type Conditions = readonly [SQL, ...SQL[]];
const selectFrom = (table: SQLiteTable, conditions: Conditions, asked: SQL) =>
  query
    .select({ asked })
    .from(table)
    .where(and(...conditions));

/** Whether a table has a row for which all of the conditions hold; whether it has none; how many it has. */
export const existsIn = (table: SQLiteTable, ...conditions: Conditions): SQL => exists(selectFrom(table, conditions, sql`1`));
export const notExistsIn = (table: SQLiteTable, ...conditions: Conditions): SQL => notExists(selectFrom(table, conditions, sql`1`));
export const countIn = (table: SQLiteTable, ...conditions: Conditions): SQL<number> => sql`${selectFrom(table, conditions, count())}`;

/** In a batch: the statement just before this one changed a row. */
export const hasPreviousChange = (): SQL => sql`changes() > 0`;

/** The values of a list as one bound value, for `inArray`: D1 binds at most a hundred to a statement. */
export const jsonList = (values: readonly (string | number)[]): SQL => sql`(select value from json_each(${JSON.stringify(values)}))`;

/** Likewise rows, to read from: `each` is their table, `cell` one of their members, and `order` is theirs. */
export const jsonTable = <Row extends object>(rows: readonly Row[]) => ({
  each: sql`json_each(${JSON.stringify(rows)}) j`,
  cell: <Key extends keyof Row & string>(key: Key) => sql<Row[Key]>`j.value ->> ${sql.raw(`'${key}'`)}`,
  order: sql`j.key`,
});

/** Whether a column or field that is a list of words holds one of them. */
export const listContains = (list: SQLWrapper, word: string): SQL => sql`exists (select 1 from json_each(${list}) where value = ${word})`;

/**
 * Columns under names that say their table too, for a join that is read in a batch: there a row comes back by the names of its
 * columns, and two that are called the same would be one.
 */
export const withTablePrefix = <F extends Readonly<Record<string, Column>>>(fields: F): F =>
  Object.fromEntries(
    Object.entries(fields).map(([key, column]) => [key, column.as(`${getTableName(getColumnTable(column))}_${column.name}`)]),
  ) as unknown as F;
