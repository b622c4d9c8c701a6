// Reads the configuration of the Worker: its runtime options, and the stores that it binds.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getDatabasePath, getLocalDatabaseId } from "./database-files.ts";
import { loadWrangler } from "./miniflare.ts";

/** Miniflare's options for a Worker. */
export type WorkerConfiguration = Readonly<Record<string, unknown>>;

/** The name of the file with the result of `loadWorkerConfiguration`. It is next to the bundle. */
export const configurationName = "configuration.json";

/** Loads the Worker options from a wrangler.toml, without the settings that wrangler would add from .dev.vars. */
export const loadWorkerConfiguration = (path = "wrangler.toml"): WorkerConfiguration => {
  const { unstable_getMiniflareWorkerOptions, unstable_readConfig } = loadWrangler();
  const { modulesRules: _unused, ...worker } = unstable_getMiniflareWorkerOptions(path).workerOptions as Record<string, unknown>;
  return { ...worker, bindings: unstable_readConfig({ config: path }).vars };
};

/** Reads the options that `bundleWorker` wrote, or loads them if there are none. */
export const readBundledConfiguration = (folder: string): WorkerConfiguration => {
  const path = join(folder, configurationName);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as WorkerConfiguration) : loadWorkerConfiguration();
};

export const getBindingName = (shard: string): string => (shard === "00" ? "DB" : `DB_${shard}`);

/** Returns the database of each shard that the configuration binds, and then of each additional shard. */
export const listDatabases = (worker: WorkerConfiguration, extraShards: readonly string[] = []): ReadonlyMap<string, unknown> => {
  const bound = worker.d1Databases as Readonly<Record<string, unknown>>;
  const boundShards = Object.keys(bound).map((binding) => (binding === "DB" ? "00" : binding.slice("DB_".length)));
  return new Map([...boundShards, ...extraShards].map((shard) => [shard, shard === "00" ? bound.DB : getLocalDatabaseId(shard)]));
};

export const toDatabaseBindings = (databases: ReadonlyMap<string, unknown>): object =>
  Object.fromEntries([...databases].map(([shard, database]) => [getBindingName(shard), database]));

/**
 * Returns the IDs that the runtime derives file names from: those of each shard's database, of the KV namespace, and of the bucket for log
 * tiles (null if there is none).
 */
export const listStoreIds = (
  extraShards: readonly string[] = [],
): { readonly databases: ReadonlyMap<string, string>; readonly namespace: string; readonly bucket: string | null } => {
  const worker = loadWorkerConfiguration();
  const tiles = (worker.r2Buckets as Record<string, unknown> | undefined)?.LOG_TILES;
  const toId = (binding: unknown): string => (typeof binding === "string" ? binding : (binding as { readonly id: string }).id);
  return {
    databases: new Map([...listDatabases(worker, extraShards)].map(([shard, database]) => [shard, toId(database)])),
    namespace: toId((worker.kvNamespaces as Record<string, unknown>).KV),
    bucket: tiles === undefined ? null : toId(tiles),
  };
};

/** Returns the path of a shard's database file, whether or not wrangler.toml binds the shard. */
export const getShardDatabasePath = (stateDir: string, shard = "00"): string =>
  getDatabasePath(stateDir, listStoreIds([shard]).databases.get(shard) as string);
