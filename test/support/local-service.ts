// Runs the whole service for a test: the real Worker on the local runtime and the demo business site, on free ports, with its own
// databases. Services with only the demo accounts share their secrets.
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
import { buildAssets } from "../../scripts/build.ts";
import { prepareDemoData } from "../../scripts/demo-data.ts";
import { startDemoSite } from "../../scripts/demo-site.ts";
import { createDemoWorld, type DemoWorld } from "../../scripts/demo-world.ts";
import { bundleWorker, prepareDatabases, startPreparedRuntime, type D1Like, type Runtime } from "../../scripts/local-runtime.ts";
import { generateDevVars, paymentProviderMockFrom, buildLocalSettings } from "../../scripts/settings.ts";

export interface LocalService {
  /** The service's origin. Locally, the API, the app and all other parts of the service share this origin. */
  readonly origin: string;
  /** The demo business site's origin. */
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

const sourcePaths = [
  "core/**",
  "storage/**",
  "durable-objects/**",
  "workers/**",
  "widget/**",
  "verifier/**",
  "scripts/build.ts",
  "scripts/demo-data.ts",
  "scripts/demo-world.ts",
  "scripts/guides.ts",
  "scripts/local-runtime.ts",
  "scripts/settings.ts",
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
const maxBuildAgeMs = 60 * 60_000; // longer than any test run

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

/** Takes a build lock. Returns false while a running process holds it, and removes the lock of a dead process. */
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

/** Adds to the build a copy of the databases with the demo accounts, and the secrets that the accounts' rows depend on. */
const buildAccounts = async (building: string): Promise<void> => {
  const stateDir = join(building, "accounts");
  cpSync(join(building, "state"), stateDir, { recursive: true });
  const vars = generateDevVars();
  const world = createDemoWorld(vars.ISSUER_KEY as string);
  await prepareDemoData(buildLocalSettings({ port: 0, demoPort: 0, stateDir, vars }), world, { isEmpty: true });
  writeFileSync(join(building, "vars.json"), JSON.stringify(vars));
};

const buildWorker = async (built: string): Promise<void> => {
  await buildAssets();
  removeOldBuilds();
  const building = mkdtempSync(join(buildsDir, "building-"));
  await bundleWorker(building);
  cpSync("dist/assets", join(building, "assets"), { recursive: true }); // another build may replace dist/assets during the tests
  await prepareDatabases({ stateDir: join(building, "state") });
  await buildAccounts(building);
  if (existsSync(built)) rmSync(building, { recursive: true, force: true });
  else renameSync(building, built);
};

/**
 * Returns a folder with the Worker bundled from the current sources, with empty, migrated databases, and with databases that contain the
 * demo accounts. The first test file builds it for all test files, and those that run in parallel wait for it.
 */
export const ensureBuiltWorker = async (): Promise<string> => {
  const built = join(buildsDir, hashSources());
  const lock = `${built}.lock`;
  mkdirSync(buildsDir, { recursive: true });
  while (!existsSync(built)) {
    if (!takeLock(lock)) await new Promise((resolve) => setTimeout(resolve, 100));
    else
      try {
        if (!existsSync(built)) await buildWorker(built); // another process may have finished before this one got the lock
      } finally {
        rmSync(lock, { force: true });
      }
  }
  return built;
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

type Vars = Readonly<Record<string, string>>;

/**
 * Starts the service. `vars` override the Worker's settings, for example `LIMIT_VERIFY_PER_IP`. `data` selects what the databases contain:
 * only the demo accounts, or also their month of demo data.
 */
export const startLocalService = async (vars: Vars = {}, data: "accounts" | "month" = "accounts"): Promise<LocalService> => {
  const bundleDir = await ensureBuiltWorker();
  const stateDir = mkdtempSync(join(tmpdir(), "svc-state-"));
  cpSync(join(bundleDir, data === "month" ? "state" : "accounts"), stateDir, { recursive: true }); // copying them saves migrating and seeding
  const secrets = data === "month" ? generateDevVars() : (JSON.parse(readFileSync(join(bundleDir, "vars.json"), "utf8")) as Vars);
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
