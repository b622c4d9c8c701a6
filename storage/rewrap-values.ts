// Rewraps the sealed values of a shard: encrypts their data keys with the current master key. Processes all columns whose name ends with
// `_sealed`, so that new columns are included automatically.
import { and, eq, getColumns, getTableName, is, sql, type Column, type SQL } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { batch, type Database } from "./database.ts";
import * as schema from "./schema.ts";
import { findMasterKeyVersion, type Rewrapper } from "./vault.ts";

export interface SealedTable {
  readonly name: string;
  readonly table: SQLiteTable;
  /** The columns with their property names in the schema. */
  readonly columns: readonly (readonly [string, Column])[];
}

export const sealedTables: readonly SealedTable[] = Object.values(schema)
  .filter((table): table is Extract<typeof table, SQLiteTable> => is(table, SQLiteTable))
  .map((table) => ({
    name: getTableName(table),
    table,
    columns: Object.entries<Column>(getColumns(table)).filter(([, { name }]) => name.endsWith("_sealed")),
  }))
  .filter(({ columns }) => columns.length > 0)
  .toSorted((one, other) => (one.name < other.name ? -1 : 1));

/** The position of a row: its row ID or, for audit entries, its primary key. */
export type RowPosition = readonly (string | number)[];

const { ord, chain } = schema.auditEntries;
const rowId = sql<number>`rowid`;

const isAfter = (table: SQLiteTable, position: RowPosition): SQL =>
  table === schema.auditEntries
    ? sql`(${ord}, ${chain}) > (${position[0] ?? 0}, ${position[1] ?? ""})`
    : sql`rowid > ${position[0] ?? Number.MIN_SAFE_INTEGER}`;

const isAt = (table: SQLiteTable, [first, second]: RowPosition): SQL =>
  table === schema.auditEntries ? sql`${ord} = ${first} and ${chain} = ${second}` : sql`rowid = ${first}`;

export interface RewrapProgress {
  /** The number of values that were wrapped with an earlier key. */
  readonly outdated: number;
  /** The position of the last row that was read, or null at the end of the table. */
  readonly position: RowPosition | null;
}

/**
 * Reads up to `max` rows after `position` and rewraps their outdated values in one batch. Skips values that have changed since they were
 * read, because each was either sealed with the current key or erased. If `isCheck` is true, only counts the outdated values.
 */
export const rewrapRows = async (
  db: Database,
  rewrapper: Rewrapper,
  { table, columns }: SealedTable,
  { position, max, isCheck }: { readonly position: RowPosition; readonly max: number; readonly isCheck: boolean },
): Promise<RewrapProgress> => {
  const isAuditEntries = table === schema.auditEntries;
  const order = isAuditEntries ? [ord, chain] : [rowId];
  const rows = (await db
    .select({
      ...Object.fromEntries(columns),
      first: isAuditEntries ? sql<number>`${ord}`.as("first") : rowId.as("first"),
      second: isAuditEntries ? sql<string>`${chain}`.as("second") : sql<string>`''`.as("second"),
    })
    .from(table)
    .where(isAfter(table, position))
    .orderBy(...order)
    .limit(max)) as unknown as readonly (Record<string, string | null> & { readonly first: never; readonly second: never })[];
  const values = rows.flatMap((row) =>
    columns.flatMap(([key, column]) => {
      const sealed = row[key];
      const version = typeof sealed === "string" ? findMasterKeyVersion(sealed) : null;
      return version === null || version === rewrapper.currentVersion
        ? []
        : [{ key, column, sealed: sealed as string, at: [row.first, row.second] as RowPosition }];
    }),
  );
  if (!isCheck) {
    const rewrapped = await Promise.all(values.map(({ sealed }) => rewrapper.rewrap(sealed)));
    await batch(
      db,
      values.map(({ key, column, sealed, at }, index) =>
        db
          .update(table)
          .set({ [key]: rewrapped[index] })
          .where(and(isAt(table, at), eq(column, sealed))),
      ),
    );
  }
  const last = rows.at(-1);
  return { outdated: values.length, position: last === undefined || rows.length < max ? null : [last.first, last.second] };
};
