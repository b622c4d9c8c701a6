// What is stored, from both sides: the schema that the migrations and the objects really make, and what docs/storage.md says.
import { readdirSync } from "node:fs";
import { basename } from "node:path";
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

/** `file table` of everything the objects create, with the columns: classes share tables, so the file names the owner. */
export const tablesOfObjects = (): Table[] =>
  scriptFiles()
    .filter((file) => file.startsWith("durable-objects/"))
    .flatMap((file) => {
      const owner = basename(file, ".ts");
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

/** Skips a `${…}` from its opening brace; the position after the closing one. */
const afterBraces = (text: string, from: number): number => {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
};

/** The string or template literal that starts at `from`, without its quotes; null when no literal starts there. */
const literalAt = (text: string, from: number): string | null => {
  const quote = text[from];
  if (quote !== '"' && quote !== "`") return null;
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === quote) return text.slice(from + 1, at);
    else if (quote === "`" && text.startsWith("${", at)) at = afterBraces(text, at + 1) - 1;
  }
  return null;
};

/** Puts constants of the same file into a template; null when something in it is known only when it runs. */
const filledIn = (file: string, template: string): string | null => {
  let filled = "";
  let rest = template;
  for (let start = rest.indexOf("${"); start !== -1; start = rest.indexOf("${")) {
    const end = afterBraces(rest, start + 1);
    const name = rest.slice(start + 2, end - 1);
    const constant = new RegExp(`const ${name} =\\s*`).exec(read(file));
    if (!/^\w+$/.test(name) || constant === null) return null;
    const from = constant.index + constant[0].length;
    const literal = literalAt(read(file), from);
    const value = literal === null ? (/^[\d_ *A-Za-z]+;/.test(read(file).slice(from)) ? "1" : null) : filledIn(file, literal);
    if (value === null) return null;
    filled += rest.slice(0, start) + value;
    rest = rest.slice(end);
  }
  return filled + rest;
};

/** Every statement that storage prepares from constants alone. Those put together while running are left to the tests that run them. */
export const constantStatements = (): { readonly file: string; readonly sql: string }[] =>
  scriptFiles()
    .filter((file) => file.startsWith("storage/"))
    .flatMap((file) =>
      [...read(file).matchAll(/\.prepare\(\s*(?:\/\/[^\n]*\n\s*)?/g)].flatMap((match) => {
        const template = literalAt(read(file), match.index + match[0].length);
        const sql = template === null ? null : filledIn(file, template);
        return sql === null ? [] : [{ file, sql }];
      }),
    );
