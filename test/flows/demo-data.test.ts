// Tests preparing the demo data of a service that was started before. Prepared databases do not change until a shard is added, an
// interrupted preparation is detected, and a service with other businesses gets no demo month. Also tests that commands still use an added
// shard if SHARDS is not set.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { prepareDemoData } from "../../scripts/demo-data.ts";
import { createDemoWorld } from "../../scripts/demo-world.ts";
import { UnusableStateError } from "../../scripts/local-databases.ts";
import { testVars, worldSecret } from "../support/local-vars.ts";

const stateDir = mkdtempSync(join(tmpdir(), "svc-demo-data-"));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

const prepare = (extraShards: readonly string[]) =>
  prepareDemoData({ stateDir, vars: testVars, extraShards }, createDemoWorld(worldSecret), {
    isEmpty: true,
  });

/** Lists the database files with the times of their last change. */
const listDatabaseFiles = (): readonly string[] =>
  globSync("v3/d1/**/*.sqlite*", { cwd: stateDir })
    .sort()
    .map((name) => `${name} ${statSync(join(stateDir, name)).mtimeMs}`);

test("does not change prepared databases until a shard is added", { timeout: 120_000 }, async () => {
  await prepare([]);
  const prepared = listDatabaseFiles();
  expect(prepared.length).toBeGreaterThan(0);
  await prepare([]);
  expect(listDatabaseFiles()).toEqual(prepared);

  await prepare(["01"]);
  expect(listDatabaseFiles().length).toBeGreaterThan(prepared.length);
});

test("refuses databases in which a start was interrupted while it wrote the demo month, unless no month is wanted", async () => {
  await prepare([]);
  writeFileSync(join(stateDir, "prepared.json"), ""); // as after a full disk
  writeFileSync(join(stateDir, "replaying-month"), "");
  const options = { stateDir, vars: testVars, extraShards: [] };
  await expect(prepareDemoData(options, createDemoWorld(worldSecret), { isEmpty: false })).rejects.toThrow(UnusableStateError);
  await expect(prepare([])).resolves.toBeNull();
  rmSync(join(stateDir, "replaying-month"));
}, 120_000);

test("adds no demo month to a service that has businesses of its own", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-used-data-"));
  const options = { stateDir: folder, vars: testVars, extraShards: ["01"] };
  const otherSecret = Buffer.alloc(32, 7).toString("base64"); // as after a rotation of the issuer key, from which the demo is derived
  try {
    await prepareDemoData(options, createDemoWorld(otherSecret), { isEmpty: true });
    rmSync(join(folder, "prepared.json")); // as after an import
    await expect(prepareDemoData(options, createDemoWorld(worldSecret), { isEmpty: false })).resolves.toBeNull();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);

test("a shard with data stays part of the local service if SHARDS is not set", { timeout: 120_000 }, async () => {
  await prepare(["01"]);
  const folder = mkdtempSync(join(tmpdir(), "svc-local-settings-"));
  writeFileSync(join(folder, ".dev.vars"), `ISSUER_KEY=${testVars.ISSUER_KEY}\n`);
  const program = `import { loadLocalSettings } from ${JSON.stringify(join(process.cwd(), "scripts/settings.ts"))}; console.log(loadLocalSettings().extraShards.join())`;
  const { SHARDS: _, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: folder,
    encoding: "utf8",
    env: { ...env, SVC_STATE_DIR: stateDir },
  });
  rmSync(folder, { recursive: true, force: true });
  expect(stdout.trim()).toBe("01");
});
