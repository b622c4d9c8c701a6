// Reads the stored schema from two sources: what the migrations and Durable Objects create, and what docs/internals/storage.md describes.
import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { auditLogSteps } from "../../durable-objects/audit-log/migrations.ts";
import { eventSequenceSteps } from "../../durable-objects/event-sequence/migrations.ts";
import { deliveryQueueSteps } from "../../durable-objects/delivery-queue/migrations.ts";
import { destinationHostSteps } from "../../durable-objects/destination-host/migrations.ts";
import { intakeJournalSteps } from "../../durable-objects/intake-journal/migrations.ts";
import { ledgerLogSteps } from "../../durable-objects/ledger-log/migrations.ts";
import { rateLimiterSteps } from "../../durable-objects/rate-limiter/migrations.ts";
import { logTables } from "../../durable-objects/transparency-log/migrations.ts";
import { readRepositoryFile, listScriptFiles } from "./repository.ts";

export const listMigrations = (): string[] => readdirSync("d1-migrations").sort();

export const createMigratedDatabase = (): DatabaseSync => {
  const database = new DatabaseSync(":memory:");
  for (const name of listMigrations()) database.exec(readRepositoryFile(`d1-migrations/${name}`));
  return database;
};

/** Creates an empty Durable Object database and applies these schema steps. */
const createObjectDatabase = (steps: readonly string[]): DatabaseSync => {
  const database = new DatabaseSync(":memory:");
  for (const step of steps) database.exec(step);
  return database;
};

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly strict: boolean;
}

const listTables = (database: DatabaseSync): Table[] =>
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

export const listDatabaseTables = (): Table[] => listTables(createMigratedDatabase());

/**
 * The table in which every Durable Object stores its schema version. It is read from the source text, because importing the module needs
 * the runtime's types.
 */
const versionTable = /CREATE TABLE[^"]+/.exec(readRepositoryFile("durable-objects/schema-steps.ts"))?.[0] ?? "";

const stepsByClass: Readonly<Record<string, readonly string[]>> = {
  "audit-log": auditLogSteps,
  "delivery-queue": deliveryQueueSteps,
  "destination-host": destinationHostSteps,
  "event-sequence": eventSequenceSteps,
  "intake-journal": intakeJournalSteps,
  "ledger-log": ledgerLogSteps,
  "rate-limiter": rateLimiterSteps,
};

/** Lists the tables of all Durable Objects as `folder table`, with their columns. Tables shared by several classes are listed once. */
export const listObjectTables = (): Table[] => {
  const shared = {
    "every object": listTables(createObjectDatabase([versionTable])),
    "transparency-log": listTables(createObjectDatabase([logTables])),
  };
  const sharedNames = new Set(Object.values(shared).flatMap((tables) => tables.map(({ name }) => name)));
  const tablesByClass = Object.entries(stepsByClass).map(
    ([owner, steps]) => [owner, listTables(createObjectDatabase(steps)).filter(({ name }) => !sharedNames.has(name))] as const,
  );
  return [...Object.entries(shared), ...tablesByClass].flatMap(([owner, tables]) =>
    tables.map((table) => ({ ...table, name: `${owner} ${table.name}` })),
  );
};

/** Lists the folders of Durable Object classes. The tests must compare each of them. */
export const listObjectClasses = (): string[] =>
  listScriptFiles()
    .filter((file) => /^durable-objects\/[^/]+\/migrations\.ts$/.test(file))
    .map((file) => basename(dirname(file)))
    .filter((owner) => owner !== "transparency-log");

export const listComparedClasses = (): string[] => Object.keys(stepsByClass);

/** Lists the key prefixes that the storage layer writes to KV, such as `policy:`. */
export const listKeyPrefixes = (): string[] => {
  const users = listScriptFiles().filter((file) => file.startsWith("storage/") && readRepositoryFile(file).includes("KVNamespace"));
  const templates = users.flatMap((file) =>
    [...readRepositoryFile(file).matchAll(/`([a-z-]+:)\$\{/g)].map(([, prefix]) => prefix as string),
  );
  return [...new Set(templates)].sort();
};

export interface DescribedTable {
  /** The section of the page: `D1`, `KV` or `Objects`. */
  readonly section: string;
  readonly table: string;
  readonly rows: readonly { readonly name: string; readonly kind: string; readonly meaning: string; readonly lifetime: string }[];
}

/**
 * Lists the tables described in docs/internals/storage.md: `## section`, `### table`, then rows whose first cell is a name in backticks.
 */
export const listDescribedTables = (): DescribedTable[] => {
  const found: DescribedTable[] = [];
  let section = "";
  let table = "";
  let rows: DescribedTable["rows"][number][] = [];
  for (const line of readRepositoryFile("docs/internals/storage.md").split("\n")) {
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
