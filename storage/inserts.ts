// Inserts that drizzle does not support: conditional inserts, and inserts that bind all rows as one value (D1 allows 100 bound values).
import { eq, getColumns, getColumnTable, is, SQL, sql, type Column, type InferInsertModel } from "drizzle-orm";
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database, Statement } from "./database.ts";
import { prepareOnce } from "./prepared.ts";
import { countIn } from "./query.ts";

/** Selects the value that the insert tried to write. Use it in `onConflictDoUpdate`. */
export const excluded = (column: Column): SQL => sql`excluded.${sql.identifier(column.name)}`;

/** Inserts a row if `condition` is true when the statement runs. */
export const insertIf = <Table extends SQLiteTable>(db: Database, table: Table, row: SQLiteInsertValue<Table>, condition: SQL) => {
  const input = row as Readonly<Record<string, unknown>>;
  const columns = Object.entries<Column>(getColumns(table)).filter(([key]) => input[key] !== undefined);
  const values = columns.map(([key, column]) => (is(input[key], SQL) ? input[key] : sql.param(input[key], column)));
  return db.insert(table, ...(columns.map(([key]) => key) as never)).select(sql`select ${sql.join(values, sql`, `)} where ${condition}`);
};

/**
 * Selects the owner's ID for a new row. If the owner already has `max` rows that match `only`, the ID is NULL, which makes the insert fail.
 */
export const ownerIfBelowLimit = <Id extends string>(owner: SQLiteColumn, id: Id, max: number, ...only: readonly SQL[]): SQL<Id> =>
  sql`iif(${countIn(getColumnTable(owner) as SQLiteTable, eq(owner, id), ...only)} < ${max}, ${id}, null)`;

/**
 * Returns a function that inserts any number of rows, in order, with one statement. All rows are bound as one JSON value, because D1 allows
 * at most 100 bound values per statement. Columns that are not in `keys` get their default. The columns in `computed` get the value of an
 * SQL expression, in which `value` is the row as JSON.
 */
export const bulkInsert = <Table extends SQLiteTable, Key extends keyof InferInsertModel<Table> & string, Computed extends Key = never>(
  table: Table,
  keys: readonly Key[],
  computed: Readonly<Record<Computed, SQL>> = {} as Record<Computed, SQL>,
) => {
  const expressions: Readonly<Record<string, SQL>> = computed;
  const cells = keys.map((key) => expressions[key] ?? sql`value ->> ${sql.raw(`'${key}'`)}`);
  const insertRows = prepareOnce<{ rows: string }>()((db, { rows }) =>
    db
      .insert(table, ...(keys as never))
      .select(sql`select ${sql.join(cells, sql`, `)} from json_each(${rows})`)
      .prepare(),
  );
  return (db: Database, rows: readonly Omit<Pick<InferInsertModel<Table>, Key>, Computed>[]): Statement =>
    insertRows(db, { rows: JSON.stringify(rows) });
};
