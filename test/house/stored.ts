// What is stored, from both sides: the schema that the migrations and the objects really make, and what docs/storage.md says.
import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { read, scriptFiles } from "./repository.ts";

export const migrations = (): string[] => readdirSync("d1-migrations").sort();

/** An empty database after every migration. */
export const migrated = (): DatabaseSync => {
  const database = new DatabaseSync(":memory:");
  for (const name of migrations()) database.exec(read(`d1-migrations/${name}`));
  return database;
};

/** The tables that the source of an object class makes for itself. */
const objectTables = (file: string): DatabaseSync => {
  const database = new DatabaseSync(":memory:");
  for (const [sql] of read(file).matchAll(/CREATE TABLE IF NOT EXISTS [^"`]+/g))
    for (const statement of sql.split(";")) database.exec(statement);
  return database;
};

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly strict: boolean;
}

const tablesOf = (database: DatabaseSync): Table[] =>
  database
    .prepare(
      "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
    )
    .all()
    .map((row) => {
      const name = String(row.name);
      const columns = database.prepare("SELECT name FROM pragma_table_info(?)").all(name);
      return { name, columns: columns.map((column) => String(column.name)), strict: row.strict === 1 };
    });

export const databaseTables = (): Table[] => tablesOf(migrated());

/** `folder table` of everything the objects create, with the columns: classes share tables, so the folder names the owner. */
export const tablesOfObjects = (): Table[] =>
  scriptFiles()
    .filter((file) => file.startsWith("durable-objects/"))
    .flatMap((file) => {
      const owner = basename(dirname(file));
      return tablesOf(objectTables(file)).map((table) => ({ ...table, name: `${owner} ${table.name}` }));
    });

/** Prefixes of the keys that storage puts into the key-value store, as `policy:`. */
export const keyPrefixes = (): string[] => {
  const users = scriptFiles().filter((file) => file.startsWith("storage/") && read(file).includes("KVNamespace"));
  const templates = users.flatMap((file) => [...read(file).matchAll(/`([a-z-]+:)\$\{/g)].map(([, prefix]) => prefix as string));
  return [...new Set(templates)].sort();
};

export interface Described {
  /** `D1`, `KV`, `Objects`. */
  readonly section: string;
  readonly table: string;
  readonly rows: readonly { readonly name: string; readonly kind: string; readonly meaning: string; readonly lifetime: string }[];
}

/** The tables of docs/storage.md: `## section`, `### table`, then rows whose first cell is a name in backticks. */
export const described = (): Described[] => {
  const found: Described[] = [];
  let section = "";
  let table = "";
  let rows: Described["rows"][number][] = [];
  for (const line of read("docs/storage.md").split("\n")) {
    const heading = /^(##|###) (.+)$/.exec(line);
    if (heading !== null) {
      if (heading[1] === "##") section = heading[2] as string;
      table = heading[1] === "##" ? "" : (heading[2] as string).replaceAll("`", "");
      rows = [];
      found.push({ section, table, rows });
    }
    const cells = /^\| `([^`]+)` \|(.*)\|$/.exec(line);
    if (cells === null) continue;
    const [kind = "", meaning = "", lifetime = ""] = (cells[2] as string).split(/(?<!\\)\|/).map((cell) => cell.trim());
    rows.push({ name: cells[1] as string, kind, meaning, lifetime });
  }
  return found.filter(({ rows: described }) => described.length > 0);
};
