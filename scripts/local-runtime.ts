// Runs the whole service locally: the Worker bundle from wrangler, on Miniflare, with its databases on disk. `wrangler dev` is not used
// because it fires no crons, prompts on the terminal and is several times slower.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { getLocalDatabaseId } from "./database-files.ts";
import { receiverUrls } from "./demo-month/receiver.ts";

process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false"; // keeps Miniflare from requesting the location of this machine
process.env.WRANGLER_SEND_METRICS ??= "false";
process.env.WRANGLER_HIDE_BANNER ??= "true";
// The runtime has about twenty isolates (the Worker, simulators of D1, KV, queues and assets, and their proxies), and each sizes its heap
// as if it were the only one. Together they take 1 GiB after a minute of load. With a young generation of 2 MiB, they take about 400 MiB.
process.env.MINIFLARE_WORKERD_V8_FLAGS ??= "--max-semi-space-size=2";

/** Loads wrangler only when it is needed, because loading takes half a second, and a restart without changes does not need wrangler. */
const loadWrangler = (): typeof import("wrangler") => createRequire(import.meta.url)("wrangler") as typeof import("wrangler");

const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import("miniflare");
type Miniflare = InstanceType<typeof Miniflare>;

/** The output folder of `bundleWorker` that `npm start` and the tests share. */
export const workerBundleDir = "dist/worker";

/** The file next to the bundle that contains the result of `loadWorkerConfiguration`. */
export const configurationName = "configuration.json";

/**
 * Bundles the Worker as a deployment does, or bundles the module `entry` with the same settings. Also writes esbuild's list of inputs and
 * the Worker options. Rejects with wrangler's output on failure.
 */
export const bundleWorker = async (outDir: string = workerBundleDir, entry?: string): Promise<void> => {
  const command = ["deploy", ...(entry === undefined ? [] : [entry]), "--dry-run", "--metafile", "--outdir", outDir];
  const wrangler = spawn("node_modules/.bin/wrangler", command, { stdio: ["ignore", "pipe", "pipe"] });
  const output: string[] = [];
  for (const stream of [wrangler.stdout, wrangler.stderr]) stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
  const [status] = (await once(wrangler, "close")) as [number | null];
  if (status !== 0) throw new Error(`Bundling the Worker failed:\n${output.join("")}`);
  writeFileSync(join(outDir, configurationName), JSON.stringify(loadWorkerConfiguration()));
};

export interface RuntimeOptions {
  readonly port: number;
  readonly stateDir: string;
  readonly vars: Readonly<Record<string, string>>;
  /** IDs of shards in addition to `00`; each gets its own database. */
  readonly extraShards?: readonly string[];
  /** Seeds a migrated database before the service listens. */
  readonly seed?: (db: D1Like, shard: string) => Promise<void>;
  /** The migrations of an earlier version, if not all of d1-migrations. */
  readonly migrations?: readonly string[];
  /** The source of a module to run instead of the bundled Worker. */
  readonly script?: string;
  /** Output folder of `bundleWorker`, if not the default. */
  readonly bundleDir?: string;
  /** Folder of static assets, if not the default. */
  readonly assetsDir?: string;
  /** A second Worker with the same databases and Durable Objects, reachable at the host `beside.test`. */
  readonly sidecarScript?: string;
  /** Origin of the demo website, which then receives the requests to the receivers of the demo data. */
  readonly demoOrigin?: string;
  /**
   * Output folder of `bundleWorker` for another version of the service. It uses the same stores, and the Durable Objects of the first
   * version. `serve` chooses which of the two gets the requests.
   */
  readonly otherVersionDir?: string;
  /** Receives the requests that the service sends to other machines. */
  readonly outboundService?: (request: Request) => Promise<Response>;
  /** If false, prints only warnings and errors, so that benchmarks do not measure the terminal. */
  readonly printsLog?: boolean;
  /** If false, does not print warnings and errors either. A simulated fault causes hundreds of them. */
  readonly printsProblems?: boolean;
  /** Debugger port, for profiling. */
  readonly inspectorPort?: number;
}

export interface Runtime {
  readonly url: string;
  readonly database: (shard?: string) => Promise<D1Like>;
  readonly scheduled: (cron: string, at?: Date) => Promise<void>;
  /** Chooses which versions get the requests, in turn. Only with `otherVersionDir`. The default is `["svc"]`. */
  readonly serve: (versions: readonly ServedVersion[]) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** The version in `bundleDir` or the one in `otherVersionDir`. */
export type ServedVersion = "svc" | "other";

/** The part of the D1 interface that scripts and tests use. */
export interface D1Like {
  prepare: (sql: string) => D1Statement;
  /** A method and not a property, so that a real D1 database is assignable (method parameters are bivariant). */
  batch(statements: readonly D1Statement[]): Promise<unknown>;
}
export interface D1Statement {
  bind: (...values: readonly unknown[]) => D1Statement;
  run: () => Promise<unknown>;
  all: <T = Record<string, unknown>>() => Promise<{ results: T[] }>;
  first: <T = Record<string, unknown>>() => Promise<T | null>;
}

/**
 * A Worker that runs SQL for migrations and seeding. Miniflare's own database proxy blocks this process for several milliseconds per
 * statement, and a new database takes about 300 statements.
 */
const seedScript = `export default {
  async fetch(request, env) {
    const { binding, statements } = await request.json();
    const database = env[binding];
    return Response.json(await database.batch(statements.map(({ sql, values }) => database.prepare(sql).bind(...values))));
  },
}`;

/** A statement as sent to the seed Worker. */
interface Prepared {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const createSeedDatabase = (seedRuntime: Miniflare, binding: string): D1Like => {
  const batch = async (statements: readonly Prepared[]): Promise<readonly { readonly results: readonly unknown[] }[]> => {
    const answer = await seedRuntime.dispatchFetch("http://seed.test/", { method: "POST", body: JSON.stringify({ binding, statements }) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json() as Promise<readonly { readonly results: readonly unknown[] }[]>;
  };
  const prepare = (sql: string, values: readonly unknown[] = []): D1Statement & Prepared => {
    const results = async <T>(): Promise<T[]> => ((await batch([{ sql, values }]))[0]?.results ?? []) as T[];
    return {
      sql,
      values,
      bind: (...bound) => prepare(sql, bound),
      run: () => results(),
      all: async <T>() => ({ results: await results<T>() }),
      first: async <T>() => (await results<T>())[0] ?? null,
    };
  };
  return { prepare: (sql) => prepare(sql), batch: (statements) => batch(statements as readonly (D1Statement & Prepared)[]) };
};

const getBindingName = (shard: string): string => (shard === "00" ? "DB" : `DB_${shard}`);

/** Thrown if the state folder was written with a migration that no longer exists. */
class OutdatedStateError extends Error {}

/**
 * Applies missing migrations and records them in wrangler's table. Throws OutdatedStateError if a recorded migration has no file. `files`
 * limits the migrations to those of an earlier version.
 */
const applyMigrations = async (db: D1Like, files: readonly string[] = readdirSync("d1-migrations").sort()): Promise<void> => {
  await db
    .prepare(
      "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)",
    )
    .run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const unknown = [...applied].filter((name) => !files.includes(name));
  if (unknown.length > 0) throw new OutdatedStateError(`The database was created with unknown migrations: ${unknown.join(", ")}.`);
  for (const name of files) {
    if (applied.has(name)) continue;
    const statements = loadWrangler().unstable_splitSqlQuery(readFileSync(join("d1-migrations", name), "utf8"));
    await db.batch([...statements.map((sql) => db.prepare(sql)), db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name)]);
  }
};

/**
 * Returns true for a message that is hidden. With the V8 flags above, the runtime cannot use its compile cache and prints this message once
 * per isolate.
 */
const isExpectedMessage = (message: string): boolean => message.startsWith("NOSENTRY per-isolate bootstrap compile cache");

interface LogLine {
  readonly level: string;
  readonly message: string;
}

const isProblem = ({ level }: LogLine): boolean => level === "warn" || level === "error";

const createLogPrinter =
  ({ printsLog, printsProblems }: Pick<RuntimeOptions, "printsLog" | "printsProblems">) =>
  (line: LogLine): void => {
    const isPrinted = isProblem(line) ? printsProblems !== false : printsLog !== false;
    if (isExpectedMessage(line.message) || !isPrinted) return;
    (isProblem(line) ? process.stderr : process.stdout).write(`${line.message}\n`);
  };

const buildSharedOptions = ({ stateDir, ...printing }: Pick<RuntimeOptions, "stateDir" | "printsLog" | "printsProblems">) => ({
  host: "127.0.0.1",
  cf: false as const,
  log: new Log(LogLevel.WARN),
  logRequests: false,
  handleStructuredLogs: createLogPrinter(printing),
  resourcePersistencePath: join(stateDir, "v3"),
  resourceTmpPath: join(stateDir, "tmp"),
});

/** Lists the shards that the configuration binds, then the additional ones. */
const listShards = (worker: Record<string, unknown>, { extraShards = [] }: Pick<RuntimeOptions, "extraShards">): readonly string[] => {
  const bound = Object.keys(worker.d1Databases as object).map((binding) => (binding === "DB" ? "00" : binding.slice("DB_".length)));
  return [...new Set([...bound, ...extraShards])];
};

/** Loads the Worker options from a wrangler.toml, without the settings that wrangler would add from .dev.vars. */
export const loadWorkerConfiguration = (path = "wrangler.toml"): Record<string, unknown> => {
  const { unstable_getMiniflareWorkerOptions, unstable_readConfig } = loadWrangler();
  const { modulesRules: _unused, ...worker } = unstable_getMiniflareWorkerOptions(path).workerOptions as Record<string, unknown>;
  return { ...worker, bindings: unstable_readConfig({ config: path }).vars };
};

/** Reads the options that `bundleWorker` wrote, or loads them if there are none. */
const readBundledConfiguration = (folder: string): Record<string, unknown> => {
  const path = join(folder, configurationName);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>) : loadWorkerConfiguration();
};

const listDatabases = (worker: Record<string, unknown>, shards: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    shards.map((shard) => [
      getBindingName(shard),
      shard === "00" ? (worker.d1Databases as Record<string, unknown>).DB : getLocalDatabaseId(shard),
    ]),
  );

/**
 * Returns the IDs that the runtime derives file names from: those of each shard's database, of the KV namespace, and of the bucket for log
 * tiles (null if there is none).
 */
export const listStoreIds = (
  options: Pick<RuntimeOptions, "extraShards">,
): { readonly databases: ReadonlyMap<string, string>; readonly namespace: string; readonly bucket: string | null } => {
  const worker = loadWorkerConfiguration();
  const shards = listShards(worker, options);
  const bound = listDatabases(worker, shards);
  const tiles = (worker.r2Buckets as Record<string, unknown> | undefined)?.LOG_TILES;
  const toId = (binding: unknown): string => (typeof binding === "string" ? binding : (binding as { readonly id: string }).id);
  return {
    databases: new Map(shards.map((shard) => [shard, toId(bound[getBindingName(shard)])])),
    namespace: toId((worker.kvNamespaces as Record<string, unknown>).KV),
    bucket: tiles === undefined ? null : toId(tiles),
  };
};

/** Migrates and seeds the databases in a state folder, then stops the runtime. Throws OutdatedStateError as `applyMigrations` does. */
export const prepareDatabases = async (
  options: Pick<RuntimeOptions, "stateDir" | "extraShards" | "seed" | "migrations" | "printsLog">,
): Promise<void> => {
  mkdirSync(options.stateDir, { recursive: true });
  const worker = loadWorkerConfiguration();
  const shards = listShards(worker, options);
  const d1Databases = listDatabases(worker, shards);
  const seedRuntime = new Miniflare(
    convertV4MiniflareOptions({
      ...buildSharedOptions(options),
      port: 0,
      workers: [{ name: "seed", modules: true, script: seedScript, compatibilityDate: "2026-08-01", d1Databases }],
    } as never),
  );
  try {
    for (const shard of shards) {
      const db = createSeedDatabase(seedRuntime, getBindingName(shard));
      await applyMigrations(db, options.migrations);
      await options.seed?.(db, shard);
    }
  } finally {
    await seedRuntime.dispose();
  }
};

/**
 * Runs `start`. If the state folder is outdated, moves it to `<folder>.old-<timestamp>`, passes a one-sentence message to `report`, and
 * runs `start` again with an empty folder.
 */
export const withCurrentState = async <T>(stateDir: string, report: (text: string) => void, start: () => Promise<T>): Promise<T> => {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof OutdatedStateError)) throw error;
    const folder = stateDir.replace(/\/+$/, "");
    const movedTo = `${folder}.old-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
    renameSync(folder, movedTo);
    report(`${folder} has an older database schema. It was moved to ${movedTo}; the service starts with an empty database.`);
    return start();
  }
};

/** A Worker that passes the service's outbound requests on. Requests to the demo's receivers, which do not exist, go to the demo website. */
const outboundScript = `export default {
  fetch: (request, { RECEIVERS, DEMO_ORIGIN }) =>
    fetch(RECEIVERS.includes(request.url) ? new Request(DEMO_ORIGIN + new URL(request.url).pathname, request) : request),
}`;

/** Starts the service after migrating and seeding its databases. */
export const startRuntime = async (options: RuntimeOptions): Promise<Runtime> => {
  await prepareDatabases(options);
  return startPreparedRuntime(options);
};

/** A Worker in front of two versions of the service. It sends the requests to the versions that `Runtime.serve` chose. */
const versionRouterScript = `let serving = ["svc"];
let requests = 0;
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/serve-versions") return env[serving[requests++ % serving.length]].fetch(request);
    serving = await request.json();
    return new Response();
  },
}`;

/** Starts the service with databases that `prepareDatabases` has prepared. */
export const startPreparedRuntime = async (options: Omit<RuntimeOptions, "seed" | "migrations">): Promise<Runtime> => {
  const worker = readBundledConfiguration(options.bundleDir ?? workerBundleDir);
  const databases = listDatabases(worker, listShards(worker, options));
  const { otherVersionDir } = options;
  const borrowedObjects = (configuration: Record<string, unknown>): object =>
    Object.fromEntries(
      Object.entries(configuration.durableObjects as Record<string, object>).map(([binding, object]) => [
        binding,
        { ...object, scriptName: "svc" },
      ]),
    );
  const buildVersion = (configuration: Record<string, unknown>, contents: string) => ({
    ...configuration,
    ...(options.assetsDir !== undefined && { assets: { ...(configuration.assets as object), directory: options.assetsDir } }),
    // The local service does not need these, and each would add one or two isolates.
    cacheAPI: false,
    ratelimits: {},
    d1Databases: databases,
    bindings: { ...(configuration.bindings as object), ...options.vars },
    ...(options.outboundService !== undefined && { outboundService: options.outboundService }),
    modules: [{ type: "ESModule", path: "index.js", contents }],
  });
  const readBundle = (folder: string): string => readFileSync(join(folder, "index.js"), "utf8");
  const buildOtherVersion = (folder: string) => {
    const configuration = readBundledConfiguration(folder);
    // A queue has one consumer.
    return {
      ...buildVersion(configuration, readBundle(folder)),
      durableObjects: borrowedObjects(configuration),
      queueConsumers: {},
      name: "other",
    };
  };
  const running = new Miniflare(
    convertV4MiniflareOptions({
      ...buildSharedOptions(options),
      port: options.port,
      unsafeTriggerHandlers: true,
      ...(options.inspectorPort !== undefined && { inspectorPort: options.inspectorPort }),
      workers: [
        ...(otherVersionDir === undefined
          ? []
          : [
              {
                name: "router",
                modules: true,
                script: versionRouterScript,
                compatibilityDate: worker.compatibilityDate,
                serviceBindings: { svc: "svc", other: "other" },
              },
            ]),
        {
          ...buildVersion(worker, options.script ?? readBundle(options.bundleDir ?? workerBundleDir)),
          // A module that replaces the Worker has no Durable Objects or queues.
          ...(options.script !== undefined && { durableObjects: {}, queueProducers: {}, queueConsumers: {} }),
          name: "svc",
          ...(options.demoOrigin !== undefined && { outboundService: "outbound" }),
        },
        ...(options.demoOrigin === undefined
          ? []
          : [
              {
                name: "outbound",
                modules: true,
                script: outboundScript,
                compatibilityDate: worker.compatibilityDate,
                bindings: { RECEIVERS: Object.values(receiverUrls), DEMO_ORIGIN: options.demoOrigin },
              },
            ]),
        ...(options.sidecarScript === undefined
          ? []
          : [
              {
                name: "beside",
                modules: true,
                script: options.sidecarScript,
                compatibilityDate: worker.compatibilityDate,
                d1Databases: databases,
                durableObjects: borrowedObjects(worker),
                routes: ["beside.test/*"],
              },
            ]),
        ...(otherVersionDir === undefined ? [] : [buildOtherVersion(otherVersionDir)]),
      ],
    } as never),
  );
  const url = await running.ready;
  return {
    url: url.origin,
    database: async (shard = "00") => (await running.getD1Database(getBindingName(shard), "svc")) as unknown as D1Like,
    scheduled: async (cron, at = new Date()) => {
      const handler = (await running.getWorker("svc")) as unknown as {
        scheduled: (event: { cron: string; scheduledTime: Date }) => Promise<unknown>;
      };
      await handler.scheduled({ cron, scheduledTime: at });
    },
    serve: async (versions) => {
      const response = await fetch(`${url.origin}/serve-versions`, { method: "POST", body: JSON.stringify(versions) });
      if (!response.ok) throw new Error("serve() needs otherVersionDir");
    },
    dispose: () => running.dispose(),
  };
};
