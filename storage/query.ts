// Conditions, lists and subqueries that several files in storage/ use.
import { and, count, exists, getColumns, getColumnTable, getTableName, notExists, or, sql, type Column, type SQL } from "drizzle-orm";
import { QueryBuilder, type SQLiteTable } from "drizzle-orm/sqlite-core";

/** An SQL condition. Code outside storage/ treats it as an opaque value. */
export type Condition = SQL;

export const query = new QueryBuilder();

/** Like `and`, but does not accept undefined, so that a missing condition cannot match all rows. */
export const allOf = (...conditions: readonly [SQL, SQL, ...SQL[]]): SQL => and(...conditions) as SQL;

type Conditions = readonly [SQL, ...SQL[]];
const selectFrom = (table: SQLiteTable, conditions: Conditions, value: SQL) =>
  query
    .select({ value })
    .from(table)
    .where(and(...conditions));

/** Builds a condition that is true if the table has a row that matches all conditions. */
export const existsIn = (table: SQLiteTable, ...conditions: Conditions): SQL => exists(selectFrom(table, conditions, sql`1`));
export const notExistsIn = (table: SQLiteTable, ...conditions: Conditions): SQL => notExists(selectFrom(table, conditions, sql`1`));
export const countIn = (table: SQLiteTable, ...conditions: Conditions): SQL<number> => sql`${selectFrom(table, conditions, count())}`;

/** Builds a condition that is true if the preceding statement in the batch changed a row. */
export const hasPreviousChange = (): SQL => sql`changes() > 0`;

/** Sorts rows at random. The database reads all matching rows, even if the query has a limit. */
export const inRandomOrder = sql`random()`;

/** Builds a condition that is true if a column of the row differs from its new value. Ignores undefined values. */
export const isDifferent = (table: SQLiteTable, values: object): SQL => {
  const columns: Readonly<Record<string, Column>> = getColumns(table);
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return or(...given.map(([key, value]) => sql`${columns[key]} is not ${sql.param(value, columns[key])}`)) as SQL;
};

/** Binds a list as one value for `inArray`, because D1 binds at most 100 values per statement. */
export const jsonList = (values: readonly (string | number)[]): SQL => sql`(select value from json_each(${JSON.stringify(values)}))`;

/** Binds rows as one JSON value: `each` is a table of the rows, `cell` selects a field, and `order` is a row's position. */
export const jsonTable = <Row extends object>(rows: readonly Row[]) => ({
  each: sql`json_each(${JSON.stringify(rows)}) j`,
  cell: <Key extends keyof Row & string>(key: Key) => sql<Row[Key]>`j.value ->> ${sql.raw(`'${key}'`)}`,
  order: sql`j.key`,
});

/**
 * Gives columns aliases that start with the name of their table. Use it for joins in a batch. A batch returns rows by column name, so
 * columns with the same name would overwrite each other.
 */
export const withTablePrefix = <F extends Readonly<Record<string, Column>>>(fields: F): F =>
  Object.fromEntries(
    Object.entries(fields).map(([key, column]) => [key, column.as(`${getTableName(getColumnTable(column))}_${column.name}`)]),
  ) as unknown as F;
