// Writes rows of a SQLite database as lines of JSON and reads them back. A table's first line contains the table's name and its columns.
// Every other line is one row: an array of null, numbers, strings, {"b64": …} for bytes, and {"int": …} for integers beyond 2^53.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { sealedFromBytes, sealedToHex, type Rewrapper } from "../../storage/vault.ts";

type StoredValue = string | number | null | { readonly b64: string } | { readonly int: string };

export interface TableHeader {
  readonly table: string;
  readonly columns: readonly string[];
  /** The statements that create the table and its indexes, for a database without a schema. */
  readonly sql?: readonly string[];
}

export const isTableHeader = (line: unknown): line is TableHeader => typeof line === "object" && line !== null && "table" in line;

const rowsPerRewrap = 200; // rewrapping this many rows at a time hides the latency of the cryptography

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const toStored = (value: unknown): StoredValue => {
  if (typeof value === "bigint")
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : { int: String(value) };
  if (value instanceof Uint8Array) return { b64: Buffer.from(value).toString("base64") };
  return value as string | number | null;
};

const fromStored = (value: StoredValue): SQLInputValue => {
  // SQLite would store a number as floating point, so pass integers as BigInt.
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== "object" || value === null) return value;
  return "int" in value ? BigInt(value.int) : Buffer.from(value.b64, "base64");
};

export const listColumns = (database: DatabaseSync, table: string): readonly string[] =>
  database
    .prepare(`SELECT name FROM pragma_table_info(?)`)
    .all(table)
    .map(({ name }) => String(name));

const isBytes = (value: StoredValue): value is { readonly b64: string } => typeof value === "object" && value !== null && "b64" in value;

/**
 * Wraps the data keys of a row's sealed values again, with the current key of `rewrapper`. A sealed value is a string or bytes. A column is
 * sealed if its name ends with `_sealed`.
 */
const rewrapRow = async (
  row: readonly StoredValue[],
  sealedColumns: readonly number[],
  rewrapper: Rewrapper,
): Promise<readonly StoredValue[]> => {
  const changed = [...row];
  for (const at of sealedColumns) {
    const value = row[at] ?? null;
    if (typeof value === "string") changed[at] = (await rewrapper.rewrap(value)) ?? value;
    else if (isBytes(value)) {
      const rewrapped = await rewrapper.rewrap(sealedFromBytes(Buffer.from(value.b64, "base64")));
      if (rewrapped !== null) changed[at] = { b64: Buffer.from(sealedToHex(rewrapped), "hex").toString("base64") };
    }
  }
  return changed;
};

const findSealedColumns = (columns: readonly string[]): readonly number[] =>
  columns.flatMap((name, at) => (name.endsWith("_sealed") ? [at] : []));

/** Returns functions that collect the rows of one table, rewrap their sealed values in batches, and pass them to `save` in order. */
const createRowWriter = (columns: readonly string[], rewrapper: Rewrapper, save: (row: readonly StoredValue[]) => void) => {
  const sealedColumns = findSealedColumns(columns);
  let waiting: (readonly StoredValue[])[] = [];
  const flush = async (): Promise<void> => {
    for (const row of await Promise.all(waiting.map((one) => rewrapRow(one, sealedColumns, rewrapper)))) save(row);
    waiting = [];
  };
  return {
    add: async (row: readonly StoredValue[]): Promise<void> => {
      waiting.push(row);
      if (waiting.length >= rowsPerRewrap) await flush();
    },
    /** Saves the remaining rows. */
    finish: flush,
  };
};

/** Rows to add or omit when a table is written. */
export interface RowChanges {
  /** Rows to write before those of the table, with the same columns. */
  readonly additional?: Iterable<readonly unknown[]>;
  readonly isOmitted?: (row: readonly unknown[]) => boolean;
}

/** Writes a table and its rows as lines, in storage order. */
export const writeTable = async (
  database: DatabaseSync,
  header: TableHeader,
  rewrapper: Rewrapper,
  writeLine: (line: string) => void,
  { additional = [], isOmitted = () => false }: RowChanges = {},
): Promise<void> => {
  const { table, columns } = header;
  writeLine(JSON.stringify(header));
  const statement = database.prepare(`SELECT ${columns.map(quoteName).join(", ")} FROM ${quoteName(table)}`);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const writer = createRowWriter(columns, rewrapper, (row) => writeLine(JSON.stringify(row)));
  for (const rows of [additional, statement.iterate() as Iterable<unknown> as Iterable<readonly unknown[]>])
    for (const row of rows) if (!isOmitted(row)) await writer.add(row.map(toStored));
  await writer.finish();
};

/** Returns functions that collect the rows of one table and insert them in batches. */
export const createRowInserter = (database: DatabaseSync, { table, columns }: TableHeader, rewrapper: Rewrapper) => {
  const insert = database.prepare(
    `INSERT INTO ${quoteName(table)} (${columns.map(quoteName).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
  return createRowWriter(columns, rewrapper, (row) => insert.run(...row.map(fromStored)));
};
