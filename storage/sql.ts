// The few pieces of SQL that the query builder has no word for. Columns and rows are checked like everywhere else.
import { and, getColumns, getColumnTable, getTableName, is, SQL, sql, type Column, type GetColumnData, type SQLWrapper } from "drizzle-orm";
import { QueryBuilder, type SQLiteInsertValue, type SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./database.ts";

/** For sub-selects: a query that is part of another and belongs to no database. */
export const query = new QueryBuilder();

/** Every one of them. Unlike `and`, which takes undefined for nothing and then means all rows, it asks for conditions. */
export const allOf = (...conditions: readonly [SQL, SQL, ...SQL[]]): SQL => and(...conditions) as SQL;

/** The values of a list as one bound value, for `inArray`: D1 binds at most a hundred to a statement. */
export const listed = (values: readonly (string | number)[]): SQL => sql`(select value from json_each(${JSON.stringify(values)}))`;

/** In the `set` of `onConflictDoUpdate`: what the insert would have written. */
export const excluded = (column: Column): SQL => sql`excluded.${sql.identifier(column.name)}`;

const comma = sql`, `;

/** An insert that happens only where `condition` holds in the same statement. The row is checked as in `values`. */
export const insertIf = <Table extends SQLiteTable>(db: Database, table: Table, row: SQLiteInsertValue<Table>, condition: SQL) => {
  const given = row as Readonly<Record<string, unknown>>;
  const columns = Object.entries<Column>(getColumns(table)).filter(([key]) => given[key] !== undefined);
  const values = columns.map(([key, column]) => (is(given[key], SQL) ? given[key] : sql.param(given[key], column)));
  return db.insert(table, ...(columns.map(([key]) => key) as never)).select(sql`select ${sql.join(values, comma)} where ${condition}`);
};

/** What JSON carries as it is: texts and numbers. */
type Plain = { readonly _: { readonly dataType: `string${string}` | `number${string}` } } & Column;
type Fields = Readonly<Record<string, Plain | SQL>>;
type Row<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Column ? GetColumnData<F[K]> : F[K] extends SQL<infer T> ? T : never;
};

const jsonObject = (fields: Fields): SQL => {
  const pairs = Object.entries(fields).map(([key, value]) => sql`${sql.raw(`'${key}'`)}, ${value}`);
  return sql`json_object(${sql.join(pairs, comma)})`;
};

/** A row of other tables as one value, null where there is none: `select` asks for the `row` it is given from wherever it is. */
export const jsonRow = <F extends Fields>(fields: F, select: (row: SQL) => SQLWrapper): SQL<Row<F> | null> =>
  sql<string | null>`${select(jsonObject(fields))}`.mapWith((json: string): Row<F> => JSON.parse(json));

/** Likewise all such rows. */
export const jsonRows = <F extends Fields>(fields: F, select: (rows: SQL) => SQLWrapper): SQL<readonly Row<F>[]> =>
  sql<string>`${select(sql`json_group_array(${jsonObject(fields)})`)}`.mapWith((json: string): readonly Row<F>[] => JSON.parse(json));

/**
 * Columns under names that say their table too, for a join that is read in a batch: there a row comes back by the names of its
 * columns, and two that are called the same would be one.
 */
export const named = <F extends Readonly<Record<string, Column>>>(fields: F): F =>
  Object.fromEntries(
    Object.entries(fields).map(([key, column]) => [key, column.as(`${getTableName(getColumnTable(column))}_${column.name}`)]),
  ) as unknown as F;
