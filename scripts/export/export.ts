// `npm run admin -- export`: exports the data of a local service to a folder of encrypted files, one after another. A file is complete once
// the progress file names it, so an interrupted export continues after the last complete file.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { toIso } from "../../core/time.ts";
import type { Rewrapper } from "../../storage/vault.ts";
import { computeObjectId, getDatabasePath } from "../database-files.ts";
import { listStoreIds } from "../worker-configuration.ts";
import {
  computeStateSignature,
  exportedClasses,
  findAlarm,
  getObjectPath,
  hasStoredData,
  journalClass,
  listObjectFiles,
  openForReading,
  readTexts,
  readTileBytes,
  type ExportedClass,
} from "./local-stores.ts";
import {
  createExportKey,
  exportFormat,
  manifestName,
  readManifest,
  writeManifest,
  type ExportedFile,
  type FileKind,
  type Manifest,
} from "./manifest.ts";
import { isBucketKey, readRemovedRows, type FindTileBytes } from "./removed-tiles.ts";
import { listColumns, writeTable, type RowChanges } from "./rows.ts";
import { openSealedWriter } from "./sealed-file.ts";
import { collectMovedSettings, openExportRewrapper, type Vars } from "./settings.ts";

export interface ExportOptions {
  readonly stateDir: string;
  readonly extraShards: readonly string[];
  readonly vars: Vars;
  /** Folder of the export. It must be empty or missing, or contain an interrupted export. */
  readonly folder: string;
  readonly passphrase: string;
  readonly serviceVersion: string;
  readonly now: () => number;
  readonly report: (text: string) => void;
}

/** The line that introduces an object in a file. The lines of the object's tables follow it. */
export interface ObjectHeader {
  readonly object: ExportedClass;
  readonly name: string;
  readonly alarm: string | null;
}

/**
 * The number of objects per file. It is small enough that an interrupted export repeats little work, and large enough that the manifest
 * stays short.
 */
const objectsPerFile = 200;
const rowsPerReport = 100_000;

const progressName = "manifest.partial.json";

interface Part {
  readonly path: string;
  readonly kind: FileKind;
  readonly shard?: string;
  readonly write: (writeLine: (line: string) => void, rewrapper: Rewrapper) => Promise<void>;
}

/**
 * Lists the tables of a shard's database to export. The runtime's own tables and the list of migrations are omitted, because they belong to
 * the deployment.
 */
const listTables = (database: DatabaseSync): readonly string[] => {
  const names = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith("_cf_") && !name.startsWith("sqlite_") && name !== "d1_migrations");
  return [...names, "sqlite_sequence"]; // must be last, because inserting rows into the other tables changes it
};

const listMigrations = (database: DatabaseSync): readonly string[] =>
  database
    .prepare("SELECT name FROM d1_migrations ORDER BY name")
    .all()
    .map(({ name }) => String(name));

const withDatabase = async <T>(path: string, read: (database: DatabaseSync) => T | Promise<T>): Promise<T> => {
  const database = openForReading(path);
  try {
    return await read(database);
  } finally {
    database.close();
  }
};

const hasTable = (database: DatabaseSync, table: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;

const findValue = (database: DatabaseSync, table: string, sql: string): string | null => {
  if (!hasTable(database, table)) return null;
  const row = database.prepare(sql).get();
  return row === undefined ? null : String(Object.values(row)[0]);
};

/**
 * Finds the name of an object. The name of an audit log is its shard. Other objects store their own name. Returns null if no name is found.
 */
const findObjectName = (className: ExportedClass, database: DatabaseSync, shards: readonly string[], file: string): string | null => {
  switch (className) {
    case "AuditLog":
      return shards.find((shard) => file.includes(computeObjectId("svc-AuditLog", shard))) ?? null;
    case "LedgerLog":
      return findValue(database, "meta", "SELECT v FROM meta WHERE k = 'origin'");
    case "EventSequence":
      return findValue(database, "business", "SELECT id FROM business");
    case "DeliveryQueue":
      return findValue(database, "queue", "SELECT endpoint_id FROM queue");
  }
};

interface StoredObject {
  readonly className: ExportedClass;
  readonly name: string;
  readonly file: string;
}

const isEmptyObject = (database: DatabaseSync): boolean =>
  database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name <> 'schema_version'")
    .all()
    .every(({ name }) => database.prepare(`SELECT 1 FROM "${String(name)}" LIMIT 1`).get() === undefined);

/** Lists the objects to export. Throws if an object has data but its name is unknown. */
const listObjects = async (stateDir: string, shards: readonly string[]): Promise<readonly StoredObject[]> => {
  const objects: StoredObject[] = [];
  for (const className of exportedClasses)
    for (const file of listObjectFiles(stateDir, className))
      await withDatabase(file, (database) => {
        const name = findObjectName(className, database, shards, file);
        if (name !== null && getObjectPath(stateDir, className, name) === file) objects.push({ className, name, file });
        else if (!isEmptyObject(database)) throw new Error(`An object of the class ${className} has data and an unknown name: ${file}`);
      });
  return objects;
};

/** Throws if a journal still contains submissions that are not in their database. */
const assertJournalsAreEmpty = async (stateDir: string): Promise<void> => {
  for (const file of listObjectFiles(stateDir, journalClass))
    await withDatabase(file, (database) => {
      if (findValue(database, "entry", "SELECT ord FROM entry LIMIT 1") !== null)
        throw new Error(
          "Some submissions are still in a journal. Run the service until it has moved them to their databases, then export again.",
        );
    });
};

/**
 * Returns the rows to add or omit when a log is exported. The tiles and entries that the log has moved to R2 are added. The `meta` rows
 * about the bucket are omitted, because the importing deployment starts with an empty bucket.
 */
const changeRows = (database: DatabaseSync, className: ExportedClass, table: string, findTile: FindTileBytes): RowChanges => {
  if (className !== "AuditLog" && className !== "LedgerLog") return {};
  if (table === "meta") return { isOmitted: ([key]) => isBucketKey(key) };
  return table === "leaf" || table === "tile" ? { additional: readRemovedRows(database, table, findTile) } : {};
};

const writeObject = async (
  { className, name, file }: StoredObject,
  { stateDir, findTile }: { readonly stateDir: string; readonly findTile: FindTileBytes },
  rewrapper: Rewrapper,
  writeLine: (line: string) => void,
): Promise<void> => {
  const objectHeader: ObjectHeader = { object: className, name, alarm: findAlarm(stateDir, className, name) };
  writeLine(JSON.stringify(objectHeader));
  await withDatabase(file, async (database) => {
    const statements = database.prepare("SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC, name");
    for (const { name: table } of database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name")
      .all()) {
      const sql = statements.all(String(table)).map((row) => String(row.sql));
      const header = { table: String(table), columns: listColumns(database, String(table)), sql };
      await writeTable(database, header, rewrapper, writeLine, changeRows(database, className, String(table), findTile));
    }
  });
};

const listParts = async ({
  stateDir,
  extraShards,
  vars,
}: ExportOptions): Promise<{
  readonly parts: readonly Part[];
  readonly migrations: readonly string[];
  readonly shards: readonly string[];
}> => {
  const { databases, namespace, bucket } = listStoreIds(extraShards);
  const shards = [...databases.keys()];
  const parts: Part[] = [
    {
      path: "settings.sealed",
      kind: "settings",
      write: async (writeLine) => writeLine(JSON.stringify(collectMovedSettings(vars))),
    },
  ];
  let migrations: readonly string[] = [];
  for (const [shard, id] of databases) {
    const file = getDatabasePath(stateDir, id);
    if (!existsSync(file)) throw new Error(`Shard ${shard} has no database in ${stateDir}.`);
    await withDatabase(file, (database) => {
      migrations = listMigrations(database);
      for (const table of listTables(database))
        parts.push({
          path: `databases/${shard}/${table}.sealed`,
          kind: "table",
          shard,
          write: (writeLine, rewrapper) =>
            withDatabase(file, async (open) => {
              await writeTable(open, { table, columns: listColumns(open, table) }, rewrapper, writeLine);
            }),
        });
    });
  }
  const objects = await listObjects(stateDir, shards);
  for (let at = 0; at < objects.length; at += objectsPerFile)
    parts.push({
      path: `objects/${String(at / objectsPerFile + 1).padStart(6, "0")}.sealed`,
      kind: "object",
      write: async (writeLine, rewrapper) => {
        const findTile: FindTileBytes = (key) => readTileBytes(stateDir, bucket, key);
        for (const object of objects.slice(at, at + objectsPerFile))
          await writeObject(object, { stateDir, findTile }, rewrapper, writeLine);
      },
    });
  parts.push({
    path: "texts.sealed",
    kind: "texts",
    write: async (writeLine) => {
      for (const { key, bytes } of readTexts(stateDir, namespace))
        writeLine(JSON.stringify([key, { b64: Buffer.from(bytes).toString("base64") }]));
    },
  });
  return { parts, migrations, shards };
};

const writePart = async (
  { path, kind, shard, write }: Part,
  { folder, report }: ExportOptions,
  exportKey: Uint8Array,
  rewrapper: Rewrapper,
): Promise<ExportedFile> => {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const writer = openSealedWriter(file, exportKey, path);
  let lines = 0;
  try {
    await write((line) => {
      writer.writeLine(line);
      lines += 1;
      if (lines % rowsPerReport === 0) report(`        ${lines} lines so far`);
    }, rewrapper);
    const written = writer.finish();
    return { path, kind, ...(shard !== undefined && { shard }), sha256: written.sha256, bytes: written.bytes, lines: written.lines };
  } catch (error) {
    writer.abort();
    throw new Error(`${path} could not be exported: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

/**
 * Returns the interrupted export in a folder. Returns null if there is none, or if the service's data has changed since the export was
 * interrupted.
 */
const resumeExport = (
  { folder, passphrase, report }: ExportOptions,
  signature: string,
): { readonly manifest: Manifest; readonly exportKey: Uint8Array } | null => {
  const path = join(folder, progressName);
  if (!existsSync(path)) return null;
  const found = readManifest(path, passphrase);
  if (found.manifest.state_signature === signature) return found;
  report("The service has run since the export was interrupted, so the export starts over.");
  return null;
};

/**
 * Exports a local service. Throws if the service has no data, if the folder contains anything other than an interrupted export, if the
 * passphrase is wrong or too short, if a journal is not empty, or if the service changes its data during the export.
 */
export const runExport = async (options: ExportOptions): Promise<Manifest> => {
  const { stateDir, folder, passphrase, vars, now, report, serviceVersion } = options;
  if (!hasStoredData(stateDir)) throw new Error(`${stateDir} contains no data to export.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const progressPath = join(folder, progressName);
  if (!existsSync(progressPath) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty. Choose another folder.`);
  await assertJournalsAreEmpty(stateDir);
  const signature = computeStateSignature(stateDir);
  const { parts, migrations, shards } = await listParts(options);
  const resumed = resumeExport(options, signature);
  const created = resumed === null ? createExportKey(passphrase) : null;
  const exportKey = resumed?.exportKey ?? (created?.exportKey as Uint8Array);
  let manifest: Manifest = resumed?.manifest ?? {
    format: exportFormat,
    created_at: toIso(now()),
    service_version: serviceVersion,
    state_signature: signature,
    migrations,
    shards,
    key: (created as NonNullable<typeof created>).key,
    files: [],
  };
  writeManifest(progressPath, manifest, exportKey);
  const rewrapper = await openExportRewrapper(vars, exportKey);
  const complete = new Set(manifest.files.map(({ path }) => path));
  for (const [at, part] of parts.entries()) {
    if (complete.has(part.path)) continue;
    const file = await writePart(part, options, exportKey, rewrapper);
    manifest = { ...manifest, files: [...manifest.files, file] };
    writeManifest(progressPath, manifest, exportKey);
    report(`  ${at + 1} of ${parts.length}  ${part.path}  ${file.lines} lines, ${file.bytes} bytes`);
  }
  if (computeStateSignature(stateDir) !== signature)
    throw new Error("The service's data changed during the export. Stop the service, then run the same command again.");
  writeManifest(join(folder, manifestName), manifest, exportKey);
  rmSync(progressPath);
  return manifest;
};
