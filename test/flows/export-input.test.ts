// Checks what the export and the import say about folders that they cannot use.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runExport } from "../../scripts/export/export.ts";
import { runImport } from "../../scripts/export/import.ts";
import { testVars } from "../support/local-vars.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-export-input-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const common = { extraShards: [], vars: testVars, passphrase: "a passphrase of the input test", report: () => {} };

test("an export of a service without data is refused, and creates no folder", async () => {
  const stateDir = join(folder, "state");
  const exported = join(folder, "exported");
  const run = runExport({ ...common, stateDir, folder: exported, serviceVersion: "1.0.0", now: Date.now });
  await expect(run).rejects.toThrow(`${stateDir} contains no data to export.`);
  expect(existsSync(exported)).toBe(false);
});

test.each(["", "{", "null", '{"format":"other"}'])("an import of a folder with the manifest %j is refused with its path", async (text) => {
  const manifest = join(folder, "manifest.json");
  writeFileSync(manifest, text);
  const run = runImport({ ...common, stateDir: join(folder, "target"), folder });
  await expect(run).rejects.toThrow(`${manifest} is not an export that this version can read.`);
});
