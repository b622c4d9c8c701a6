// Checks how an import reports an export whose database schema does not match this version.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runExport } from "../../scripts/export/export.ts";
import { runImport } from "../../scripts/export/import.ts";
import { prepareDatabases } from "../../scripts/local-databases.ts";
import { getShardDatabasePath } from "../../scripts/worker-configuration.ts";
import { testVars } from "../support/local-vars.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-export-schema-"));
const stateDir = join(folder, "state");
const passphrase = "a passphrase of the schema test";

const runSql = (sql: string): void => {
  const database = new DatabaseSync(getShardDatabasePath(stateDir));
  database.exec(sql);
  database.close();
};

beforeAll(() => prepareDatabases({ stateDir, printsLog: false }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["a column is unknown", "ALTER TABLE clients ADD COLUMN color TEXT", "databases/00/clients.sealed: "],
  ["a migration is unknown", "INSERT INTO d1_migrations (name) VALUES ('9999_later.sql')", "migrations 9999_later.sql are missing here"],
])("names the version that wrote the export and what to do if %s", { timeout: 120_000 }, async (name, change, difference) => {
  runSql(change);
  const exported = join(folder, name.replaceAll(" ", "-"));
  const common = { extraShards: [], vars: testVars, folder: exported, passphrase, report: () => {} };
  await runExport({ ...common, stateDir, serviceVersion: "9.8.7", now: Date.now });
  const target = join(folder, "target");
  const imported = runImport({ ...common, stateDir: target });
  await expect(imported).rejects.toThrow("svc 9.8.7 wrote this export, and its database schema does not fit this version: ");
  await expect(imported).rejects.toThrow(difference);
  await expect(imported).rejects.toThrow("Import it with svc 9.8.7, and then update that service.");
  expect(existsSync(`${target}.importing`)).toBe(false);
});
