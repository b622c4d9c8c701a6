// Checks that a service started by a test uses only the test's settings, not the .dev.vars of `npm start`, and that `npm start` refuses
// settings and ports that it cannot use. Also tests the lock of a state folder.
import { spawnSync } from "node:child_process";
import { cpSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadWorkerConfiguration } from "../../scripts/worker-configuration.ts";
import { buildLocalSettings, generateDevVars, type LocalSettings } from "../../scripts/settings.ts";
import { assertCanStart, findSettingsProblem } from "../../scripts/startup-checks.ts";
import { reserveStateFolder } from "../../scripts/state-lock.ts";
import { findFreePort } from "../support/local-service.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-settings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a .dev.vars next to wrangler.toml does not change the settings of a test runtime", () => {
  cpSync("wrangler.toml", join(folder, "wrangler.toml"));
  mkdirSync(join(folder, "dist/assets"), { recursive: true });
  writeFileSync(join(folder, ".dev.vars"), "ENVIRONMENT=development\nSTRIPE_PRICE_BUSINESS=price_of_a_developer\nMASTER_KEYS=1:theirs\n");
  const { bindings } = loadWorkerConfiguration(join(folder, "wrangler.toml")) as { bindings: Record<string, unknown> };
  expect(bindings).toMatchObject({ ENVIRONMENT: "production", STRIPE_PRICE_BUSINESS: "" });
  expect(bindings).not.toHaveProperty("MASTER_KEYS");
});

const buildSettings = (changes: Readonly<Record<string, string>> = {}, port = 0): LocalSettings =>
  buildLocalSettings({ port, demoPort: 0, stateDir: ".wrangler/state", vars: { ...generateDevVars(), ...changes } });

test("npm start names the settings that an earlier version left in .dev.vars, and says what to delete", async () => {
  const settings = buildSettings({ AUDIT_KEY: "PRIVATE+KEY+localhost/audit/0+00000000+AAAA" });
  expect(await findSettingsProblem(buildSettings())).toBeNull();
  expect((await findSettingsProblem(settings))?.text).toBe("Settings in .dev.vars or the environment are invalid: AUDIT_KEY.");
  await expect(assertCanStart(settings)).rejects.toThrow("delete .dev.vars and .wrangler/state");
});

test.each([Number.NaN, 1.5, 65_536])("npm start refuses %d as a port and names the setting", async (port) => {
  await expect(assertCanStart(buildSettings({}, port))).rejects.toThrow("PORT must be a port number from 1 to 65535.");
});

test.each(["0", "33", "1.5", "two", ""])("npm start refuses SHARDS=%j with one sentence and without a stack trace", (shards) => {
  const cwd = mkdtempSync(join(folder, "start-"));
  const env = { ...process.env, SHARDS: shards };
  const { status, stderr } = spawnSync(process.execPath, [resolve("scripts/start.ts")], { cwd, env, encoding: "utf8" });
  expect([status, stderr.trim()]).toEqual([1, "SHARDS must be a number from 1 to 32."]);
});

test("npm start refuses the same port for the service and the demo website", async () => {
  const settings = { ...buildSettings({}, 8_790), demoPort: 8_790 };
  await expect(assertCanStart(settings)).rejects.toThrow("PORT and DEMO_PORT must be different.");
});

test.each([
  ["start", ["--emty"], {}, 2, "Unknown option '--emty'"],
  ["demo", ["--jsn"], {}, 2, "Unknown option '--jsn'"],
  ["demo", [], { SHARDS: "two" }, 1, "SHARDS must be a number from 1 to 32."],
  ["demo", [], { PORT: "http" }, 1, "PORT must be a port number from 1 to 65535."],
  ["demo", [], { PORT: "0" }, 1, "PORT must be a port number from 1 to 65535."],
  ["chaos", ["--faults"], {}, 2, "Unknown option '--faults'"],
] as const)("npm run %s refuses %j and %j without a stack trace", (script, words, environment, code, reason) => {
  const cwd = mkdtempSync(join(folder, "refused-"));
  const command = ["--import", resolve("scripts/report-errors.ts"), resolve(`scripts/${script}.ts`), ...words];
  const env = { ...process.env, ...environment };
  const { status, stderr } = spawnSync(process.execPath, command, { cwd, env, encoding: "utf8" });
  expect([status, stderr]).toEqual([code, expect.stringContaining(reason)]);
  expect(stderr).not.toMatch(/^ +at /m);
});

test("npm start says which setting chooses another port if a port is in use", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await expect(assertCanStart(buildSettings({}, (server.address() as AddressInfo).port))).rejects.toThrow(
      "choose another port with PORT.",
    );
    await expect(assertCanStart(buildSettings())).resolves.toBeUndefined();
  } finally {
    server.close();
  }
});

test("npm start uses the default port and state folder if PORT and SVC_STATE_DIR are empty", () => {
  const cwd = mkdtempSync(join(folder, "empty-port-"));
  writeFileSync(join(cwd, ".dev.vars"), "ISSUER_KEY=AAAA\n");
  const script = `const { loadLocalSettings } = await import(${JSON.stringify(resolve("scripts/settings.ts"))}); const { origin, stateDir } = loadLocalSettings(); console.log(origin, stateDir);`;
  const command = ["--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, command, {
    cwd,
    env: { ...process.env, PORT: "", SVC_STATE_DIR: "" },
    encoding: "utf8",
  });
  expect(stdout.trim(), stderr).toBe("http://localhost:8787 .wrangler/state");
});

test.each([
  ["start", []],
  ["admin", ["export", "exported"]],
  ["admin", ["restore-drill"]],
])("npm run %s %j refuses a state folder that another process uses, on whatever port", async (script, words) => {
  const cwd = mkdtempSync(join(folder, "used-"));
  const variables = Object.entries(generateDevVars()).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(cwd, ".dev.vars"), variables.join(""));
  reserveStateFolder(join(cwd, ".wrangler/state"));
  const ports = { PORT: String(await findFreePort()), DEMO_PORT: String(await findFreePort()) };
  const env = { ...process.env, ...ports, EXPORT_PASSPHRASE: "a passphrase of the test of settings" };
  const { status, stderr } = spawnSync(process.execPath, [resolve(`scripts/${script}.ts`), ...words], { cwd, env, encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining(".wrangler/state is in use by npm start or another command.")]);
});

test("a state folder has one lock, also through a symbolic link", () => {
  const parent = mkdtempSync(join(folder, "linked-"));
  const [stateDir, link] = [join(parent, "state"), join(parent, "link")];
  mkdirSync(stateDir);
  symlinkSync(stateDir, link);
  reserveStateFolder(stateDir);
  expect(() => reserveStateFolder(link)).toThrow("is in use by npm start or another command");
});

test("a state folder can be used again after its process was killed", () => {
  const stateDir = join(mkdtempSync(join(folder, "killed-")), "state");
  const reserve = `(await import(${JSON.stringify(resolve("scripts/state-lock.ts"))})).reserveStateFolder(${JSON.stringify(stateDir)});`;
  const script = `${reserve} process.kill(process.pid, "SIGKILL");`;
  expect(spawnSync(process.execPath, ["--input-type=module", "--eval", script]).signal).toBe("SIGKILL");
  expect(() => reserveStateFolder(stateDir)).not.toThrow();
});

test("a change of .dev.vars replaces the file in one step", () => {
  const cwd = mkdtempSync(join(folder, "replaced-"));
  const [path, earlier] = [join(cwd, ".dev.vars"), join(cwd, "earlier")];
  writeFileSync(path, "ENVIRONMENT=development");
  linkSync(path, earlier);
  const script = `(await import(${JSON.stringify(resolve("scripts/settings.ts"))})).ensureDevVars();`;
  expect(spawnSync(process.execPath, ["--input-type=module", "--eval", script], { cwd }).status).toBe(0);
  expect(readFileSync(path, "utf8")).toMatch(/^ENVIRONMENT=development\nMASTER_KEYS=1:/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(earlier, "utf8")).toBe("ENVIRONMENT=development");
});

test("the stack of a mistake in the code is printed even if Node.js gives the error a code", () => {
  const command = ["--import", resolve("scripts/report-errors.ts"), "--eval", "Buffer.from(1)"];
  const { status, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining("ERR_INVALID_ARG_TYPE")]);
  expect(stderr).toMatch(/^ +at /m);
});
