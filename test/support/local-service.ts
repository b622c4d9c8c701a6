// Runs the whole service for a test: the real Worker on the local runtime and the demo business site, on free ports, with its own
// databases. The first test file prepares the databases. Every service gets a copy of them, with the same secrets.
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { buildAssets } from "../../scripts/build.ts";
import { prepareDemoData } from "../../scripts/demo-data.ts";
import { startDemoSite } from "../../scripts/demo-site.ts";
import { createDemoWorld, type DemoWorld } from "../../scripts/demo-world.ts";
import { prepareDatabases, type D1Like } from "../../scripts/local-databases.ts";
import { startPreparedRuntime, workerBundleDir, type Runtime } from "../../scripts/local-runtime.ts";
import { generateDevVars, paymentProviderMockFrom, buildLocalSettings } from "../../scripts/settings.ts";
import { updateWorkerBundle } from "../../scripts/worker-bundle.ts";

export interface LocalService {
  /** The service's origin. Locally, the API, the app and all other parts of the service share this origin. */
  readonly origin: string;
  readonly demoOrigin: string;
  readonly world: DemoWorld;
  readonly runtime: Runtime;
  readonly database: D1Like;
  /** Restarts the runtime on the same storage with its clock `ms` milliseconds ahead. Connections to the previous runtime close. */
  readonly later: (ms: number) => Promise<void>;
  /** Restarts the runtime on the same storage with these settings changed. Connections to the previous runtime close. */
  readonly restartWith: (vars: Readonly<Record<string, string>>) => Promise<void>;
  readonly vars: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

type Vars = Readonly<Record<string, string>>;

const sourcePaths = [
  "core/**",
  "storage/**",
  "durable-objects/**",
  "workers/**",
  "widget/**",
  "verifier/**",
  "scripts/build.ts",
  "scripts/demo-data.ts",
  "scripts/demo-month.ts",
  "scripts/demo-month/**",
  "scripts/demo-world.ts",
  "scripts/guides.ts",
  "scripts/local-databases.ts",
  "scripts/local-runtime.ts",
  "scripts/miniflare.ts",
  "scripts/settings.ts",
  "scripts/worker-configuration.ts",
  "d1-migrations/*.sql",
  "docs/**/*.md",
  "wrangler.toml",
  "package.json",
];

/** Returns a hash that changes whenever a source file changes. */
const hashSources = (): string => {
  const hash = createHash("sha256").update(process.cwd());
  for (const path of globSync(sourcePaths, { exclude: ["**/*.gen.ts"] }).sort()) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
};

const buildsDir = join(tmpdir(), "svc-test-builds");
const maxBuildAgeMs = 60 * 60_000; // longer than a run of `npm test`

const removeOldBuilds = (): void => {
  for (const name of readdirSync(buildsDir)) {
    const path = join(buildsDir, name);
    const builtAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs; // undefined if another process has just removed it
    if (builtAt !== undefined && Date.now() - builtAt > maxBuildAgeMs) rmSync(path, { recursive: true, force: true });
  }
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Tries to take a build lock. Returns false if the lock exists, and removes the lock if the process that holds it is dead. */
const takeLock = (lock: string): boolean => {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    const holder = existsSync(lock) ? Number(readFileSync(lock, "utf8")) : 0; // 0 until the holder has written its process ID
    if (!isAlive(holder)) rmSync(lock, { force: true });
    return false;
  }
};

/** Adds two things to the build: databases with the demo accounts, and the secrets that the accounts' rows depend on. */
const buildAccounts = async (building: string): Promise<void> => {
  const stateDir = join(building, "accounts");
  cpSync(join(building, "state"), stateDir, { recursive: true });
  const vars = generateDevVars();
  const world = createDemoWorld(vars.ISSUER_KEY as string);
  await prepareDemoData(buildLocalSettings({ port: 0, demoPort: 0, stateDir, vars }), world, { isEmpty: true });
  writeFileSync(join(building, "vars.json"), JSON.stringify(vars));
};

const readVars = (built: string): Vars => JSON.parse(readFileSync(join(built, "vars.json"), "utf8")) as Vars;

/** Adds databases with the demo accounts and their month of demo data to the build. */
const buildMonth = async (built: string, month: string): Promise<void> => {
  const stateDir = `${month}.new`;
  rmSync(stateDir, { recursive: true, force: true });
  cpSync(join(built, "state"), stateDir, { recursive: true });
  const settings = buildLocalSettings({ port: 0, demoPort: 0, stateDir, vars: readVars(built) });
  const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
  await prepareDemoData({ ...settings, assetsDir: join(built, "assets") }, world, { isEmpty: false });
  renameSync(stateDir, month);
};

const buildWorker = async (built: string): Promise<void> => {
  await buildAssets();
  removeOldBuilds();
  const building = mkdtempSync(join(buildsDir, "building-"));
  await updateWorkerBundle(); // already up to date after `npm test` or `npm start`
  cpSync(workerBundleDir, building, { recursive: true });
  cpSync("dist/assets", join(building, "assets"), { recursive: true }); // another build may replace dist/assets during the tests
  await prepareDatabases({ stateDir: join(building, "state") });
  await buildAccounts(building);
  if (existsSync(built)) rmSync(building, { recursive: true, force: true });
  else renameSync(building, built);
};

/** Builds `path` unless it exists. If another process is building it, waits for that process. */
const buildOnce = async (path: string, build: () => Promise<void>): Promise<void> => {
  const lock = `${path}.lock`;
  while (!existsSync(path)) {
    if (!takeLock(lock)) await new Promise((resolve) => setTimeout(resolve, 100));
    else
      try {
        if (!existsSync(path)) await build(); // another process may have finished before this one got the lock
      } finally {
        rmSync(lock, { force: true });
      }
  }
};

/**
 * Returns a folder with the Worker bundled from the current sources, with empty, migrated databases, and with databases that contain the
 * demo accounts. The first test file builds it for all test files, and those that run in parallel wait for it.
 */
export const ensureBuiltWorker = async (): Promise<string> => {
  const built = join(buildsDir, hashSources());
  mkdirSync(buildsDir, { recursive: true });
  await buildOnce(built, () => buildWorker(built));
  return built;
};

const monthSlotMs = 30 * 60_000; // the month of demo data ends when it is created, so it is created again every half hour

/** Returns a folder in the build with databases that contain the month of demo data. The first test file that uses it builds it. */
const ensureMonth = async (built: string): Promise<string> => {
  const month = join(built, `month-${Math.floor(Date.now() / monthSlotMs)}`);
  await buildOnce(month, () => buildMonth(built, month));
  return month;
};

const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

const portsPerProcess = 100;
const firstPort = 20_000 + (process.pid % 120) * portsPerProcess;
let portsHandedOut = 0;

/**
 * Finds a free port for a program that cannot choose one itself. The port is below those that the system uses for outgoing connections
 * (32,768 and up). Each process has its own range, so the port stays free until the program listens.
 */
export const findFreePort = async (): Promise<number> => {
  for (;;) {
    const port = firstPort + (portsHandedOut % portsPerProcess);
    portsHandedOut += 1;
    if (await isPortFree(port)) return port;
  }
};

type DemoData = "accounts" | "month";

/**
 * Copies prepared databases to `stateDir`. They contain the demo accounts and, if `data` is `month`, a month of demo data. Returns the
 * secrets of the service.
 */
export const copyPreparedState = async (stateDir: string, data: DemoData): Promise<Vars> => {
  const built = await ensureBuiltWorker();
  cpSync(data === "month" ? await ensureMonth(built) : join(built, "accounts"), stateDir, { recursive: true });
  return readVars(built);
};

/**
 * Starts the service. `vars` override the Worker's settings, for example `LIMIT_VERIFY_PER_IP`. `data` selects what the databases contain:
 * only the demo accounts, or also their month of demo data.
 */
export const startLocalService = async (vars: Vars = {}, data: DemoData = "accounts"): Promise<LocalService> => {
  const bundleDir = await ensureBuiltWorker();
  const stateDir = mkdtempSync(join(tmpdir(), "svc-state-"));
  const secrets = await copyPreparedState(stateDir, data);
  const [port, demoPort] = await Promise.all([findFreePort(), findFreePort()]);
  const settings = buildLocalSettings({ port, demoPort, stateDir, vars: { ...secrets, ...vars } });
  let runtimeOptions = { ...settings, bundleDir, assetsDir: join(bundleDir, "assets"), printsLog: false };
  const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
  await prepareDemoData(runtimeOptions, world, { isEmpty: data !== "month" });
  let runtime = await startPreparedRuntime(runtimeOptions);
  const database = await runtime.database();
  const site = await startDemoSite(
    { port: demoPort, cdnOrigin: settings.origin, clientId: world.acme.clients.live },
    paymentProviderMockFrom(settings),
  );
  return {
    origin: settings.origin,
    demoOrigin: settings.demoOrigin,
    world,
    get runtime() {
      return runtime;
    },
    database,
    later: async (ms) => {
      await runtime.dispose();
      runtime = await startPreparedRuntime({ ...runtimeOptions, vars: { ...runtimeOptions.vars, DEV_CLOCK_OFFSET_MS: String(ms) } });
    },
    get vars() {
      return runtimeOptions.vars;
    },
    restartWith: async (changed) => {
      await runtime.dispose();
      runtimeOptions = { ...runtimeOptions, vars: { ...runtimeOptions.vars, ...changed } };
      runtime = await startPreparedRuntime(runtimeOptions);
    },
    stop: async () => {
      site.closeAllConnections();
      site.close();
      await runtime.dispose();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};

/** Starts the service for all tests of a file, and stops it after the last one. */
export const startServiceForFile = async (...options: Parameters<typeof startLocalService>): Promise<LocalService> => {
  const service = await startLocalService(...options);
  afterAll(() => service.stop());
  return service;
};
