// Migrates and seeds the databases of a local service before it starts.
import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { loadWrangler, startMiniflare, type Miniflare, type SharedOptions } from "./miniflare.ts";
import { getBindingName, listDatabases, loadWorkerConfiguration, toDatabaseBindings } from "./worker-configuration.ts";

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

export interface DatabaseOptions extends SharedOptions {
  /** IDs of shards in addition to `00`; each gets its own database. */
  readonly extraShards?: readonly string[];
  readonly seed?: (db: D1Like, shard: string) => Promise<void>;
  /** The migrations of an earlier version, if not all of d1-migrations. */
  readonly migrations?: readonly string[];
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
    const response = await seedRuntime.dispatchFetch("http://seed.test/", {
      method: "POST",
      body: JSON.stringify({ binding, statements }),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json() as Promise<readonly { readonly results: readonly unknown[] }[]>;
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

/**
 * Thrown if the state folder was written with a migration that no longer exists, or contains incomplete demo data. The message is the rest
 * of a sentence that starts with the name of the folder.
 */
export class UnusableStateError extends Error {}

/**
 * Applies missing migrations and records them in wrangler's table. Throws UnusableStateError if a recorded migration has no file. `files`
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
  if (unknown.length > 0) throw new UnusableStateError("has an older database schema");
  for (const name of files) {
    if (applied.has(name)) continue;
    const statements = loadWrangler().unstable_splitSqlQuery(readFileSync(join("d1-migrations", name), "utf8"));
    await db.batch([...statements.map((sql) => db.prepare(sql)), db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name)]);
  }
};

/** Migrates and seeds the databases in a state folder, then stops the runtime. Throws UnusableStateError as `applyMigrations` does. */
export const prepareDatabases = async (options: DatabaseOptions): Promise<void> => {
  mkdirSync(options.stateDir, { recursive: true });
  const databases = listDatabases(loadWorkerConfiguration(), options.extraShards);
  const d1Databases = toDatabaseBindings(databases);
  const seedRuntime = startMiniflare(options, {
    port: 0,
    workers: [{ name: "seed", modules: true, script: seedScript, compatibilityDate: "2026-08-01", d1Databases }],
  });
  try {
    for (const shard of databases.keys()) {
      const db = createSeedDatabase(seedRuntime, getBindingName(shard));
      await applyMigrations(db, options.migrations);
      await options.seed?.(db, shard);
    }
  } finally {
    await seedRuntime.dispose();
  }
};

/**
 * Runs `start`. If the state folder cannot be used, moves it to `<folder>.old-<timestamp>`, passes a one-sentence message to `report`, and
 * runs `start` again with an empty folder.
 */
export const withCurrentState = async <T>(stateDir: string, report: (text: string) => void, start: () => Promise<T>): Promise<T> => {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof UnusableStateError)) throw error;
    const folder = stateDir.replace(/\/+$/, "");
    const movedTo = `${folder}.old-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
    renameSync(folder, movedTo);
    report(`${folder} ${error.message}. It was moved to ${movedTo}; the service starts with an empty database.`);
    return start();
  }
};
