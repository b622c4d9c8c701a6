// Inserts that the query builder has no word for: under a condition, and of any number of rows.
import { eq, getColumns, getColumnTable, is, SQL, sql, type Column, type InferInsertModel } from "drizzle-orm";
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database, Statement } from "./database.ts";
import { prepareOnce } from "./prepared.ts";
import { countIn } from "./query.ts";

/** In the `set` of `onConflictDoUpdate`: what the insert would have written. */
export const excluded = (column: Column): SQL => sql`excluded.${sql.identifier(column.name)}`;

/** An insert that happens only where `condition` holds in the same statement. The row is checked as in `values`. */
export const insertIf = <Table extends SQLiteTable>(db: Database, table: Table, row: SQLiteInsertValue<Table>, condition: SQL) => {
  const given = row as Readonly<Record<string, unknown>>;
  const columns = Object.entries<Column>(getColumns(table)).filter(([key]) => given[key] !== undefined);
  const values = columns.map(([key, column]) => (is(given[key], SQL) ? given[key] : sql.param(given[key], column)));
  return db.insert(table, ...(columns.map(([key]) => key) as never)).select(sql`select ${sql.join(values, sql`, `)} where ${condition}`);
};

/** The owner of a new row; NULL, which fails the insert, where it has as many rows as it may. */
export const ownerIfBelowLimit = <Id extends string>(owner: SQLiteColumn, id: Id, max: number, ...only: readonly SQL[]): SQL<Id> =>
  sql`iif(${countIn(getColumnTable(owner) as SQLiteTable, eq(owner, id), ...only)} < ${max}, ${id}, null)`;

/**
 * Any number of rows as one insert and one bound value, since D1 binds at most a hundred to a statement. They are written in their
 * order. The columns that are not named are left to the database.
 */
export const prepareBulkInsert = <Table extends SQLiteTable, Key extends keyof InferInsertModel<Table> & string>(
  table: Table,
  keys: readonly Key[],
) => {
  const cells = keys.map((key) => sql`value ->> ${sql.raw(`'${key}'`)}`);
  const insert = prepareOnce<{ rows: string }>()((db, { rows }) =>
    db
      .insert(table, ...(keys as never))
      .select(sql`select ${sql.join(cells, sql`, `)} from json_each(${rows})`)
      .prepare(),
  );
  return (db: Database, rows: readonly Pick<InferInsertModel<Table>, Key>[]): Statement => insert(db, { rows: JSON.stringify(rows) });
};
