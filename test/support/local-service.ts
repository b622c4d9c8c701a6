// The whole service for tests: the real Worker on the local runtime with the demo business site beside it, on free ports,
// with databases and secrets of its own that are gone afterwards.
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
import { startDemoSite } from "../../scripts/demo-site.ts";
import { createDemoWorld, seedDemo, seedPeople, openVaultFromVars, type DemoWorld } from "../../scripts/demo-world.ts";
import { bundleWorker, prepareDatabases, startRuntime, type D1Like, type Runtime } from "../../scripts/local-runtime.ts";
import { generateDevVars, paymentProviderMockFrom, buildLocalSettings } from "../../scripts/settings.ts";

export interface LocalService {
  /** Origin of the service; all its hosts are this one. */
  readonly origin: string;
  /** Origin of the demo business site. */
  readonly demoOrigin: string;
  readonly world: DemoWorld;
  readonly runtime: Runtime;
  readonly database: D1Like;
  /** As if so much time had passed: another runtime on the same stores, whose clock is ahead. What held on to the first is over. */
  readonly later: (ms: number) => Promise<void>;
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
  "scripts/guides.ts",
  "scripts/local-runtime.ts",
  "d1-migrations/*.sql",
  "docs/*.md",
  "wrangler.toml",
  "package.json",
];

/** Changes whenever a source does. */
const hashSources = (): string => {
  const hash = createHash("sha256").update(process.cwd());
  for (const path of globSync(sourcePaths, { exclude: ["**/*.gen.ts"] }).sort()) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
};

const buildsDir = join(tmpdir(), "svc-test-builds");
const maxBuildAgeMs = 60 * 60_000; // no test run is longer, so an older build serves nobody

const removeOldBuilds = (): void => {
  for (const name of readdirSync(buildsDir)) {
    const path = join(buildsDir, name);
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs; // another file may be removing it too
    if (madeAt !== undefined && Date.now() - madeAt > maxBuildAgeMs) rmSync(path, { recursive: true, force: true });
  }
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** False while another process that lives has taken it. */
const takeLock = (lock: string): boolean => {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    const holder = existsSync(lock) ? Number(readFileSync(lock, "utf8")) : 0; // 0 until it has written its number
    if (!isAlive(holder)) rmSync(lock, { force: true });
    return false;
  }
};

const buildWorker = async (built: string): Promise<void> => {
  await buildAssets();
  removeOldBuilds();
  const building = mkdtempSync(join(buildsDir, "building-"));
  bundleWorker(building);
  cpSync("dist/assets", join(building, "assets"), { recursive: true }); // a build for something else may replace that folder meanwhile
  await prepareDatabases({ stateDir: join(building, "state") });
  if (existsSync(built)) rmSync(building, { recursive: true, force: true });
  else renameSync(building, built);
};

/**
 * A folder with the Worker bundled from the sources as they stand, and with databases that have been migrated and hold nothing. Built
 * once for all test files, by whichever comes first; the files that start beside it wait.
 */
export const ensureBuiltWorker = async (): Promise<string> => {
  const built = join(buildsDir, hashSources());
  const lock = `${built}.lock`;
  mkdirSync(buildsDir, { recursive: true });
  while (!existsSync(built)) {
    if (!takeLock(lock)) await new Promise((resolve) => setTimeout(resolve, 100));
    else
      try {
        if (!existsSync(built)) await buildWorker(built); // another may have ended between the look and the lock
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
 * A port for something that has to be told one. It stays free until that listens: it is below those that the system gives to outgoing
 * connections (from 32,768 on), among which any could be taken meanwhile, and each process gives others.
 */
export const findFreePort = async (): Promise<number> => {
  for (;;) {
    const port = firstPort + (portsHandedOut % portsPerProcess);
    portsHandedOut += 1;
    if (await isPortFree(port)) return port;
  }
};

/** `vars` override settings of the Worker, e.g. `LIMIT_VERIFY_PER_IP`. */
export const startLocalService = async (vars: Readonly<Record<string, string>> = {}): Promise<LocalService> => {
  const bundledIn = await ensureBuiltWorker();
  const stateDir = mkdtempSync(join(tmpdir(), "svc-state-"));
  cpSync(join(bundledIn, "state"), stateDir, { recursive: true }); // so that no service has to migrate
  const [port, demoPort] = await Promise.all([findFreePort(), findFreePort()]);
  const settings = buildLocalSettings({ port, demoPort, stateDir, vars: { ...generateDevVars(), ...vars } });
  const placed = { ...settings, bundleDir: bundledIn, assetsDir: join(bundledIn, "assets"), printsLog: false };
  const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
  const vault = await openVaultFromVars(settings.vars);
  let runtime = await startRuntime({
    ...placed,
    seed: async (db) => {
      await seedDemo(db, world, Date.now());
      await seedPeople(db, vault, world, Date.now());
    },
  });
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
      runtime = await startRuntime({ ...placed, vars: { ...placed.vars, DEV_CLOCK_OFFSET_MS: String(ms) } });
    },
    stop: async () => {
      site.closeAllConnections();
      site.close();
      await runtime.dispose();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};
