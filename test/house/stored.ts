// What is stored, from both sides: the schema that the migrations and the objects really make, and what docs/storage.md says.
import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { auditLogSteps } from "../../durable-objects/audit-log/migrations.ts";
import { businessLogSteps } from "../../durable-objects/business-log/migrations.ts";
import { endpointLaneSteps } from "../../durable-objects/endpoint-lane/migrations.ts";
import { ledgerLogSteps } from "../../durable-objects/ledger-log/migrations.ts";
import { rateLimiterSteps } from "../../durable-objects/rate-limiter/migrations.ts";
import { logTables } from "../../durable-objects/transparency-log/migrations.ts";
import { read, scriptFiles } from "./repository.ts";

export const migrations = (): string[] => readdirSync("d1-migrations").sort();

/** An empty database after every migration. */
export const migrated = (): DatabaseSync => {
  const database = new DatabaseSync(":memory:");
  for (const name of migrations()) database.exec(read(`d1-migrations/${name}`));
  return database;
};

/** An empty object after every step. */
const afterSteps = (steps: readonly string[]): DatabaseSync => {
  const database = new DatabaseSync(":memory:");
  for (const step of steps) database.exec(step);
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

/** Where every object keeps its version; the file itself needs the runtime's types. */
const versionTable = /CREATE TABLE[^"]+/.exec(read("durable-objects/schema-steps.ts"))?.[0] ?? "";

const classes: Readonly<Record<string, readonly string[]>> = {
  "audit-log": auditLogSteps,
  "business-log": businessLogSteps,
  "endpoint-lane": endpointLaneSteps,
  "ledger-log": ledgerLogSteps,
  "rate-limiter": rateLimiterSteps,
};

/** `folder table` of everything the objects hold, with the columns. What classes share is named once, for the folder it is from. */
export const tablesOfObjects = (): Table[] => {
  const shared = { "every object": tablesOf(afterSteps([versionTable])), "transparency-log": tablesOf(afterSteps([logTables])) };
  const sharedNames = new Set(Object.values(shared).flatMap((tables) => tables.map(({ name }) => name)));
  const own = Object.entries(classes).map(
    ([owner, steps]) => [owner, tablesOf(afterSteps(steps)).filter(({ name }) => !sharedNames.has(name))] as const,
  );
  return [...Object.entries(shared), ...own].flatMap(([owner, tables]) =>
    tables.map((table) => ({ ...table, name: `${owner} ${table.name}` })),
  );
};

/** Folders of classes: each must be among those that are compared. */
export const objectClasses = (): string[] =>
  scriptFiles()
    .filter((file) => /^durable-objects\/[^/]+\/migrations\.ts$/.test(file))
    .map((file) => basename(dirname(file)))
    .filter((owner) => owner !== "transparency-log");

export const comparedClasses = (): string[] => Object.keys(classes);

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
