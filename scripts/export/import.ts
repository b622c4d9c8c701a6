// `npm run admin -- import`: builds the state of a local service from an export. It builds the state in a separate folder and moves the
// complete data into the state folder at the end, so the service never starts with an incomplete state. An interrupted import continues
// after the last complete file.
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Rewrapper } from "../../storage/vault.ts";
import { addableShards, getDatabasePath } from "../database-files.ts";
import { prepareDatabases } from "../local-databases.ts";
import { listStoreIds } from "../worker-configuration.ts";
import type { ExportOptions, ObjectHeader } from "./export.ts";
import { createObjectFile, getObjectPath, openTextStore } from "./local-stores.ts";
import { manifestName, readManifest, type ExportedFile, type Manifest } from "./manifest.ts";
import { createRowInserter, isTableHeader, quoteName } from "./rows.ts";
import { DamagedFileError, readSealedLines } from "./sealed-file.ts";
import { assertSameLogNames, openImportRewrapper, toImportedSettings, type MovedSettings, type Vars } from "./settings.ts";

/**
 * The options of an import. `stateDir` must not contain data yet, `vars` are the settings of the deployment that imports, and `folder`
 * contains the export.
 */
export interface ImportOptions extends Omit<ExportOptions, "serviceVersion" | "now"> {
  /** If true, only checks that every file is complete and unchanged. */
  readonly isDryRun?: boolean;
}

const progressName = "import.json";
/** The subfolder of the state folder that contains all of the service's data. */
const dataFolder = "v3";

/** The progress of an import: which export it reads, and which files have been imported. */
interface Progress {
  readonly export: string;
  readonly complete: readonly string[];
}

const hashFile = (path: string): string => {
  const hash = createHash("sha256");
  const input = openSync(path, "r");
  const part = Buffer.alloc(1_048_576);
  for (let read = readSync(input, part); read > 0; read = readSync(input, part)) hash.update(part.subarray(0, read));
  closeSync(input);
  return hash.digest("hex");
};

/** Yields the parsed lines of a file. Throws a DamagedFileError if the file is missing or differs from the one that the manifest lists. */
function* readFile(folder: string, { path, sha256, lines }: ExportedFile, exportKey: Uint8Array): Generator<unknown> {
  const file = join(folder, path);
  if (!existsSync(file) || hashFile(file) !== sha256) throw new DamagedFileError(`${path} is missing or was changed.`);
  let count = 0;
  for (const line of readSealedLines(file, exportKey, path)) {
    count += 1;
    yield JSON.parse(line);
  }
  if (count !== lines) throw new DamagedFileError(`${path} has ${count} lines instead of ${lines}.`);
}

const readMovedSettings = (folder: string, { files }: Manifest, exportKey: Uint8Array): MovedSettings => {
  const file = files.find(({ kind }) => kind === "settings");
  const [settings] = file === undefined ? [] : [...readFile(folder, file, exportKey)];
  if (settings === undefined) throw new DamagedFileError("The export contains no settings.");
  return settings as MovedSettings;
};

/**
 * Replaces the rows of a table in a migrated database, in one transaction. Drops the table's triggers first and creates them again
 * afterward. They would change values, and would count rows that the exported counters already include.
 */
const importTable = async (database: DatabaseSync, lines: Generator<unknown>, rewrapper: Rewrapper): Promise<void> => {
  const header: unknown = lines.next().value;
  if (!isTableHeader(header)) throw new DamagedFileError("A file of the export does not begin with a table.");
  const triggers = database.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?").all(header.table);
  database.exec("BEGIN");
  try {
    for (const { name } of triggers) database.exec(`DROP TRIGGER ${quoteName(String(name))}`);
    database.exec(`DELETE FROM ${quoteName(header.table)}`);
    const inserter = createRowInserter(database, header, rewrapper);
    for (const row of lines) await inserter.add(row as never);
    await inserter.finish();
    for (const { sql } of triggers) database.exec(String(sql));
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
};

const isObjectHeader = (line: unknown): line is ObjectHeader => typeof line === "object" && line !== null && "object" in line;

/** Creates the objects in a file. Objects that an interrupted import created are replaced. */
const importObjects = async (stateDir: string, lines: Iterable<unknown>, rewrapper: Rewrapper): Promise<void> => {
  let database: DatabaseSync | null = null;
  let inserter: ReturnType<typeof createRowInserter> | null = null;
  const finishObject = async (): Promise<void> => {
    await inserter?.finish();
    inserter = null;
    database?.exec("COMMIT");
    database?.close();
    database = null;
  };
  for (const line of lines) {
    if (isObjectHeader(line)) {
      await finishObject();
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${getObjectPath(stateDir, line.object, line.name)}${suffix}`, { force: true });
      database = createObjectFile(stateDir, line.object, line.name, line.alarm);
      database.exec("BEGIN");
    } else if (database === null) throw new DamagedFileError("A file of the export does not begin with an object.");
    else if (isTableHeader(line)) {
      await inserter?.finish();
      for (const sql of line.sql ?? []) database.exec(sql);
      inserter = createRowInserter(database, line, rewrapper);
    } else await inserter?.add(line as never);
  }
  await finishObject();
};

const importTexts = (stateDir: string, namespace: string, lines: Iterable<unknown>): void => {
  const store = openTextStore(stateDir, namespace);
  try {
    for (const line of lines) {
      const [key, { b64 }] = line as readonly [string, { readonly b64: string }];
      store.write({ key, bytes: Buffer.from(b64, "base64") });
    }
  } finally {
    store.close();
  }
};

const openDatabase = (path: string): DatabaseSync => new DatabaseSync(path, { enableForeignKeyConstraints: false });

/** Throws if a row references a missing row. */
const assertReferencesAreComplete = (database: DatabaseSync, shard: string): void => {
  const [broken] = database.prepare("PRAGMA foreign_key_check").all();
  if (broken !== undefined) throw new DamagedFileError(`Shard ${shard}: a row of ${String(broken.table)} refers to a missing row.`);
};

const isSqlError = (error: unknown): error is Error => error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";

/** Creates an error that says that the export's database schema does not fit this version, and what to do. */
const createSchemaError = ({ service_version: version }: Manifest, difference: string): Error =>
  new Error(
    `svc ${version} wrote this export, and its database schema does not fit this version: ${difference}. Import it with svc ${version}, and then update that service.`,
  );

const checkFiles = ({ folder, report }: ImportOptions, { files }: Manifest, exportKey: Uint8Array): void => {
  for (const [at, file] of files.entries()) {
    for (const _ of readFile(folder, file, exportKey));
    report(`  ${at + 1} of ${files.length}  ${file.path}  ${file.lines} lines`);
  }
};

const readProgress = (path: string): Progress | null => (existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Progress) : null);

const writeProgress = (path: string, progress: Progress): void => {
  writeFileSync(`${path}.new`, JSON.stringify(progress));
  renameSync(`${path}.new`, path);
};

/**
 * Creates the folder for the new state, or continues with the folder of an interrupted import. Returns the files that are already imported.
 */
const prepareFolder = async (building: string, manifest: Manifest, extraShards: readonly string[]): Promise<Set<string>> => {
  const id = manifest.key.sealed;
  const progressPath = join(building, progressName);
  const found = readProgress(progressPath);
  if (found?.export === id) return new Set(found.complete);
  rmSync(building, { recursive: true, force: true });
  await prepareDatabases({ stateDir: building, extraShards, printsLog: false });
  writeProgress(progressPath, { export: id, complete: [] });
  return new Set();
};

/**
 * Imports an export. Returns the settings that must match the data. The caller must save them before it starts the service. Throws if the
 * state folder has data, the export is damaged, the passphrase is wrong, the schema version differs, or the names of the logs would change.
 */
export const runImport = async (options: ImportOptions): Promise<Vars> => {
  const { stateDir, vars, folder, passphrase, report } = options;
  if (!existsSync(join(folder, manifestName))) throw new Error(`${folder} contains no complete export.`);
  const { manifest, exportKey } = readManifest(join(folder, manifestName), passphrase);
  const moved = readMovedSettings(folder, manifest, exportKey);
  assertSameLogNames(moved, vars);
  if (options.isDryRun === true) {
    checkFiles(options, manifest, exportKey);
    return toImportedSettings(moved, vars);
  }
  if (existsSync(join(stateDir, dataFolder))) throw new Error(`${stateDir} already has data. Move the folder first.`);
  const extraShards = [...new Set([...options.extraShards, ...addableShards.filter((shard) => manifest.shards.includes(shard))])];
  const { databases, namespace } = listStoreIds(extraShards);
  const unknown = manifest.migrations.filter((name) => !existsSync(join("d1-migrations", name)));
  if (unknown.length > 0) throw createSchemaError(manifest, `migrations ${unknown.join(", ")} are missing here`);
  const missing = manifest.shards.filter((shard) => !databases.has(shard));
  if (missing.length > 0) throw new Error(`The export has shards that this deployment does not have: ${missing.join(", ")}.`);

  const building = `${stateDir.replace(/\/+$/, "")}.importing`;
  const complete = await prepareFolder(building, manifest, extraShards);
  const rewrapper = await openImportRewrapper(vars, exportKey);
  for (const [at, file] of manifest.files.entries()) {
    if (complete.has(file.path)) continue;
    const lines = readFile(folder, file, exportKey);
    if (file.kind === "table") {
      const database = openDatabase(getDatabasePath(building, databases.get(file.shard as string) as string));
      try {
        await importTable(database, lines, rewrapper);
      } catch (error) {
        if (!isSqlError(error)) throw error;
        // Delete the unfinished import. Its tables have this version's schema, so another version must not resume it.
        rmSync(building, { recursive: true, force: true });
        throw createSchemaError(manifest, `${file.path}: ${error.message}`);
      } finally {
        database.close();
      }
    } else if (file.kind === "object") await importObjects(building, lines, rewrapper);
    else if (file.kind === "texts") importTexts(building, namespace, lines);
    complete.add(file.path);
    writeProgress(join(building, progressName), { export: manifest.key.sealed, complete: [...complete] });
    report(`  ${at + 1} of ${manifest.files.length}  ${file.path}  ${file.lines} lines`);
  }
  for (const [shard, id] of databases) {
    const database = openDatabase(getDatabasePath(building, id));
    try {
      assertReferencesAreComplete(database, shard);
    } finally {
      database.close();
    }
  }
  return toImportedSettings(moved, vars);
};

/**
 * Turns the imported state into the state of the service. Other files in the state folder stay as they are. Call this after the settings
 * are saved.
 */
export const finishImport = ({ stateDir }: Pick<ImportOptions, "stateDir">): void => {
  const target = stateDir.replace(/\/+$/, "");
  if (existsSync(join(target, dataFolder))) throw new Error(`${stateDir} already has data. Move the folder first.`);
  rmSync(join(`${target}.importing`, progressName), { force: true });
  mkdirSync(target, { recursive: true });
  renameSync(join(`${target}.importing`, dataFolder), join(target, dataFolder));
  rmSync(`${target}.importing`, { recursive: true });
};
