// Checks that a state folder is moved aside, not migrated, if its database was created with a migration that no longer exists.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { prepareDatabases, withCurrentState } from "../../scripts/local-databases.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-outdated-"));
const stateDir = join(folder, "state");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const reports: string[] = [];
const prepare = () =>
  withCurrentState(
    stateDir,
    (text) => reports.push(text),
    () => prepareDatabases({ stateDir }),
  );
const listOldFolders = (): string[] => readdirSync(folder).filter((name) => /^state\.old-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.test(name));

test("a state folder with current migrations is kept, and one with unknown migrations is moved aside with a notice", async () => {
  await prepare();
  await prepare();
  expect([reports, listOldFolders()]).toEqual([[], []]);

  await prepareDatabases({
    stateDir,
    seed: async (db) => {
      await db.prepare("INSERT INTO d1_migrations (name) VALUES ('0034_older.sql')").run();
    },
  });
  await prepare();
  expect(listOldFolders().length).toBe(1);
  expect(reports).toEqual([
    `${stateDir} has an older database schema. It was moved to ${join(folder, listOldFolders()[0] as string)}; the service starts with an empty database.`,
  ]);
  expect(existsSync(join(folder, listOldFolders()[0] as string, "v3"))).toBe(true);

  await prepare();
  expect(reports.length).toBe(1);
});

test("any other error during startup is thrown unchanged", async () => {
  const start = async () => {
    throw new Error("port in use");
  };
  await expect(withCurrentState(stateDir, (text) => reports.push(text), start)).rejects.toThrow("port in use");
  expect(existsSync(stateDir)).toBe(true);
});
