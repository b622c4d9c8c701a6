// The whole service on this machine: the Worker as wrangler bundles it, on Miniflare, with its databases on disk.
// Not `wrangler dev`: that one never fires crons, asks questions on a terminal and is several times slower.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false"; // no request for a location that is not needed here
process.env.WRANGLER_SEND_METRICS ??= "false";
process.env.WRANGLER_HIDE_BANNER ??= "true";
// The runtime runs some twenty isolates (the Worker, the simulators of D1, KV, queues and assets, their proxies), and each
// would let garbage grow as if it had the machine to itself: 1 GiB after a minute of load. A nursery of 2 MiB keeps them near 400 MiB.
process.env.MINIFLARE_WORKERD_V8_FLAGS ??= "--max-semi-space-size=2";

const { unstable_getMiniflareWorkerOptions, unstable_readConfig, unstable_splitSqlQuery } = await import("wrangler");
const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import("miniflare");
type Miniflare = InstanceType<typeof Miniflare>;

const bundleDir = "dist/worker";

/** Bundles the Worker exactly as a deployment would. */
export const bundleWorker = (outDir: string = bundleDir): void => {
  const { status, stderr, stdout } = spawnSync("node_modules/.bin/wrangler", ["deploy", "--dry-run", "--outdir", outDir], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The Worker does not bundle:\n${stdout}${stderr}`);
};

export interface RuntimeOptions {
  readonly port: number;
  readonly stateDir: string;
  readonly vars: Readonly<Record<string, string>>;
  /** Codes of further homes besides `00`; each becomes a database of its own. */
  readonly extraShards?: readonly string[];
  /** Fills a migrated database before anybody is listened to. */
  readonly seed?: (db: D1Like, home: string) => Promise<void>;
  /** A module to run instead of the bundled Worker. */
  readonly script?: string;
  /** Where `bundleWorker` wrote, when not to the default place. */
  readonly bundleDir?: string;
  /** A copy of the files it serves, when not the default folder. */
  readonly assetsDir?: string;
  /** A module that runs beside the Worker, on its databases and objects, and answers what is sent to the host `beside.test`. */
  readonly sidecarScript?: string;
  /** False prints faults only: whoever measures would otherwise measure its own terminal. */
  readonly printsLog?: boolean;
  /** Opens the debugger on this port; for profiles. */
  readonly inspectorPort?: number;
}

export interface Runtime {
  readonly url: string;
  readonly database: (home?: string) => Promise<D1Like>;
  readonly scheduled: (cron: string, at?: Date) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** As much of a D1 database as scripts and tests use. */
export interface D1Like {
  prepare: (sql: string) => D1Statement;
  /** A method, not a property: D1 itself asks for its own statements, which are these and more. */
  batch(statements: readonly D1Statement[]): Promise<unknown>;
}
export interface D1Statement {
  bind: (...values: readonly unknown[]) => D1Statement;
  run: () => Promise<unknown>;
  all: <T = Record<string, unknown>>() => Promise<{ results: T[] }>;
  first: <T = Record<string, unknown>>() => Promise<T | null>;
}

/**
 * Runs beside the databases, for whoever fills them. Through Miniflare's own proxy each statement would hold up this process for
 * some milliseconds, and a new database takes three hundred of them.
 */
const seedScript = `export default {
  async fetch(request, env) {
    const { binding, statements } = await request.json();
    const database = env[binding];
    return Response.json(await database.batch(statements.map(({ sql, values }) => database.prepare(sql).bind(...values))));
  },
}`;

/** A statement as it is sent there. */
interface Prepared {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const openDatabase = (filler: Miniflare, binding: string): D1Like => {
  const batch = async (statements: readonly Prepared[]): Promise<readonly { readonly results: readonly unknown[] }[]> => {
    const answer = await filler.dispatchFetch("http://filler.test/", { method: "POST", body: JSON.stringify({ binding, statements }) });
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

const shardBinding = (home: string): string => (home === "00" ? "DB" : `DB_${home}`);

/** Applies the migrations not yet applied, in wrangler's own table, so that both tools agree on what was done. */
const applyMigrations = async (db: D1Like): Promise<void> => {
  await db
    .prepare(
      "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)",
    )
    .run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  for (const name of readdirSync("d1-migrations").sort()) {
    if (applied.has(name)) continue;
    const statements = unstable_splitSqlQuery(readFileSync(join("d1-migrations", name), "utf8"));
    await db.batch([...statements.map((sql) => db.prepare(sql)), db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name)]);
  }
};

/** The flags above fit no snapshot that the runtime was built with; it says so once an isolate, and compiles. */
const isExpectedMessage = (message: string): boolean => message.startsWith("NOSENTRY per-isolate bootstrap compile cache");

interface LogLine {
  readonly level: string;
  readonly message: string;
}

const isProblem = ({ level }: LogLine): boolean => level === "warn" || level === "error";

const createLogPrinter =
  (printsAll: boolean) =>
  (line: LogLine): void => {
    if (isExpectedMessage(line.message) || !(printsAll || isProblem(line))) return;
    (isProblem(line) ? process.stderr : process.stdout).write(`${line.message}\n`);
  };

const buildSharedOptions = ({ stateDir, printsLog }: Pick<RuntimeOptions, "stateDir" | "printsLog">) => ({
  host: "127.0.0.1",
  cf: false as const,
  log: new Log(LogLevel.WARN),
  logRequests: false,
  handleStructuredLogs: createLogPrinter(printsLog !== false),
  resourcePersistencePath: join(stateDir, "v3"),
  resourceTmpPath: join(stateDir, "tmp"),
});

const listShards = ({ extraShards = [] }: Pick<RuntimeOptions, "extraShards">): readonly string[] => ["00", ...extraShards];

/** Its settings are those of the file alone: what wrangler adds from .dev.vars is for whoever starts the runtime to give, or not. */
export const loadWorkerConfiguration = (path = "wrangler.toml"): Record<string, unknown> => {
  const { modulesRules: _unused, ...worker } = unstable_getMiniflareWorkerOptions(path).workerOptions as Record<string, unknown>;
  return { ...worker, bindings: unstable_readConfig({ config: path }).vars };
};

const listDatabases = (worker: Record<string, unknown>, homes: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    homes.map((home) => [shardBinding(home), home === "00" ? (worker.d1Databases as Record<string, unknown>).DB : `svc-home-${home}`]),
  );

/** Migrates the databases of a state folder and fills them; nothing runs there afterwards. */
export const prepareDatabases = async (
  options: Pick<RuntimeOptions, "stateDir" | "extraShards" | "seed" | "printsLog">,
  worker = loadWorkerConfiguration(),
): Promise<void> => {
  mkdirSync(options.stateDir, { recursive: true });
  const homes = listShards(options);
  const d1Databases = listDatabases(worker, homes);
  const filler = new Miniflare(
    convertV4MiniflareOptions({
      ...buildSharedOptions(options),
      port: 0,
      workers: [{ name: "filler", modules: true, script: seedScript, compatibilityDate: "2026-08-01", d1Databases }],
    } as never),
  );
  for (const home of homes) {
    const db = openDatabase(filler, shardBinding(home));
    await applyMigrations(db);
    await options.seed?.(db, home);
  }
  await filler.dispose();
};

/** Starts the runtime; databases are migrated before it listens to anybody. */
export const startRuntime = async (options: RuntimeOptions): Promise<Runtime> => {
  const worker = loadWorkerConfiguration();
  const databases = listDatabases(worker, listShards(options));
  await prepareDatabases(options, worker);

  const running = new Miniflare(
    convertV4MiniflareOptions({
      ...buildSharedOptions(options),
      port: options.port,
      unsafeTriggerHandlers: true,
      ...(options.inspectorPort !== undefined && { inspectorPort: options.inspectorPort }),
      workers: [
        {
          ...worker,
          ...(options.assetsDir !== undefined && { assets: { ...(worker.assets as object), directory: options.assetsDir } }),
          // a module of its own brings no objects and takes no messages
          ...(options.script !== undefined && { durableObjects: {}, queueProducers: {}, queueConsumers: {} }),
          // nothing asks for them here, and each would be an isolate or two of its own
          cacheAPI: false,
          ratelimits: {},
          name: "svc",
          d1Databases: databases,
          bindings: { ...(worker.bindings as object), ...options.vars },
          modules: [
            {
              type: "ESModule",
              path: "index.js",
              contents: options.script ?? readFileSync(join(options.bundleDir ?? bundleDir, "index.js"), "utf8"),
            },
          ],
        },
        ...(options.sidecarScript === undefined
          ? []
          : [
              {
                name: "beside",
                modules: true,
                script: options.sidecarScript,
                compatibilityDate: worker.compatibilityDate,
                d1Databases: databases,
                durableObjects: Object.fromEntries(
                  Object.entries(worker.durableObjects as Record<string, object>).map(([binding, object]) => [
                    binding,
                    { ...object, scriptName: "svc" },
                  ]),
                ),
                routes: ["beside.test/*"],
              },
            ]),
      ],
    } as never),
  );
  const url = await running.ready;
  return {
    url: url.origin,
    database: async (home = "00") => (await running.getD1Database(shardBinding(home))) as unknown as D1Like,
    scheduled: async (cron, at = new Date()) => {
      const handler = (await running.getWorker("svc")) as unknown as {
        scheduled: (event: { cron: string; scheduledTime: Date }) => Promise<unknown>;
      };
      await handler.scheduled({ cron, scheduledTime: at });
    },
    dispose: () => running.dispose(),
  };
};
