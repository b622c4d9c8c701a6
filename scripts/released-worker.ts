// The Worker of a released version, in test/releases/<version>/. The upgrade test starts it and then deploys the current version.
// - worker.js.br: the bundle, compressed to about 0.6 MB
// - worker.json: its runtime options, and its migrations with the SHA-256 of their SQL
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { sha256Hex } from "../core/hash.ts";
import { configurationName } from "./worker-configuration.ts";

const migrationsDir = "d1-migrations";

export interface ReleasedWorker {
  /** The Worker options, as in the output folder of `bundleWorker`. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
}

/** Hashes the SQL of a migration. Ignores comments, line breaks and indentation. */
export const hashMigration = (name: string): string => {
  const sql = readFileSync(join(migrationsDir, name), "utf8").replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim();
  return sha256Hex(sql);
};

/** Saves the output of `bundleWorker` and the list of migrations. */
export const saveWorker = (bundleDir: string, folder: string): void => {
  const configuration = JSON.parse(readFileSync(join(bundleDir, configurationName), "utf8")) as ReleasedWorker["configuration"];
  // omitted, because it is a path on this machine
  const { directory: _, ...assets } = configuration.assets as { readonly directory: string };
  const migrations = readdirSync(migrationsDir)
    .sort()
    .map((name) => ({ name, sha256: hashMigration(name) }));
  const saved: ReleasedWorker = { configuration: { ...configuration, assets }, migrations };
  writeFileSync(join(folder, "worker.json"), `${JSON.stringify(saved, null, 2)}\n`);
  writeFileSync(join(folder, "worker.js.br"), brotliCompressSync(readFileSync(join(bundleDir, "index.js"))));
};

export const readReleasedWorker = (folder: string): ReleasedWorker =>
  JSON.parse(readFileSync(join(folder, "worker.json"), "utf8")) as ReleasedWorker;

/** Writes a saved Worker to a folder that the local runtime can start, as `bundleWorker` does. */
export const unpackWorker = (folder: string, bundleDir: string): void => {
  mkdirSync(bundleDir, { recursive: true });
  writeFileSync(join(bundleDir, "index.js"), brotliDecompressSync(readFileSync(join(folder, "worker.js.br"))));
  writeFileSync(join(bundleDir, configurationName), JSON.stringify(readReleasedWorker(folder).configuration));
};
