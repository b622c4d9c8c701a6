// Tests an export of a database that contains a value sealed with an unknown key. An operator must learn where to look for it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { runExport } from "../../scripts/export/export.ts";
import { prepareDatabases } from "../../scripts/local-databases.ts";
import { getShardDatabasePath } from "../../scripts/worker-configuration.ts";
import { testVars } from "../support/local-vars.ts";

test("stops and names the file of the table that contains the value", { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-damaged-value-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stateDir = join(folder, "state");
  await prepareDatabases({ stateDir, printsLog: false });
  const database = new DatabaseSync(getShardDatabasePath(stateDir));
  database
    .prepare("INSERT INTO idempotent_responses (key_hash, body_hash, status, response_sealed, expires_at) VALUES (?, ?, 200, ?, ?)")
    .run("key", "body", `9.${"A".repeat(100)}`, Date.now() + 60_000);
  database.close();

  const run = runExport({
    stateDir,
    extraShards: [],
    vars: testVars,
    folder: join(folder, "export"),
    passphrase: "a passphrase of the damaged value test",
    serviceVersion: "1.0.0",
    now: Date.now,
    report: () => {},
  });
  await expect(run).rejects.toThrow(/^databases\/00\/idempotent_responses\.sealed could not be exported: .*malformed sealed value/);
});
