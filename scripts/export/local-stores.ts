// Reads and writes the files where the local runtime stores a service's objects and KV values, and reads its log tiles. The runtime does
// not document these paths, so a test checks them against the pinned version.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sha256Hex } from "../../core/hash.ts";
import { computeObjectId } from "../database-files.ts";

const tilesClass = "miniflare-R2BucketObject";
const textsClass = "miniflare-KVNamespaceObject";

/**
 * The classes whose objects are exported. RateLimiter and DestinationHost are omitted, because limits may start over after an import, and a
 * webhook host's next 2xx response lifts its limit. IntakeJournal is omitted, because it must be empty.
 */
export const exportedClasses = ["AuditLog", "LedgerLog", "EventSequence", "DeliveryQueue"] as const;
export type ExportedClass = (typeof exportedClasses)[number];

export const journalClass = "IntakeJournal";

export const hasStoredData = (stateDir: string): boolean => existsSync(join(stateDir, "v3"));

const toClassFolder = (stateDir: string, className: string): string => join(stateDir, "v3", "do", `svc-${className}`);

export const getObjectPath = (stateDir: string, className: string, name: string): string =>
  join(toClassFolder(stateDir, className), `${computeObjectId(`svc-${className}`, name)}.sqlite`);

export const listObjectFiles = (stateDir: string, className: string): readonly string[] => {
  const folder = toClassFolder(stateDir, className);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
    .sort()
    .map((name) => join(folder, name));
};

/** Opens a file read-only, because a new modification time would change the state signature. */
export const openForReading = (path: string): DatabaseSync => new DatabaseSync(path, { readOnly: true });

const alarmTable = `CREATE TABLE IF NOT EXISTS _cf_ALARM (
      actor_id TEXT PRIMARY KEY,
      scheduled_time INTEGER,
      actor_name TEXT
    ) WITHOUT ROWID`;

/** Returns the time of an object's alarm, in the runtime's unit, or null if no alarm is set. */
export const findAlarm = (stateDir: string, className: string, name: string): string | null => {
  const path = join(toClassFolder(stateDir, className), "metadata.sqlite");
  if (!existsSync(path)) return null;
  const database = openForReading(path);
  try {
    const statement = database.prepare("SELECT scheduled_time AS at FROM _cf_ALARM WHERE actor_id = ?");
    statement.setReadBigInts(true);
    const { at } = statement.get(computeObjectId(`svc-${className}`, name)) ?? {};
    return at === undefined || at === null ? null : String(at);
  } finally {
    database.close();
  }
};

/** Creates the file of a new object and sets its alarm. */
export const createObjectFile = (stateDir: string, className: string, name: string, alarm: string | null): DatabaseSync => {
  const folder = toClassFolder(stateDir, className);
  mkdirSync(folder, { recursive: true });
  if (alarm !== null) {
    const metadata = new DatabaseSync(join(folder, "metadata.sqlite"));
    metadata.exec(alarmTable);
    metadata
      .prepare("INSERT OR REPLACE INTO _cf_ALARM (actor_id, scheduled_time, actor_name) VALUES (?, ?, ?)")
      .run(computeObjectId(`svc-${className}`, name), BigInt(alarm), name);
    metadata.close();
  }
  return new DatabaseSync(getObjectPath(stateDir, className, name));
};

export interface StoredText {
  readonly key: string;
  readonly bytes: Uint8Array;
}

const getTextsPath = (stateDir: string, namespace: string): string =>
  join(stateDir, "v3", "kv", textsClass, `${computeObjectId(textsClass, namespace)}.sqlite`);

/**
 * Yields the keys and values in KV, one after another. Omits entries that expire, because they are temporary copies and records, and the
 * runtime keeps some of them after they have expired.
 */
export function* readTexts(stateDir: string, namespace: string): Generator<StoredText> {
  const path = getTextsPath(stateDir, namespace);
  if (!existsSync(path)) return;
  const database = openForReading(path);
  try {
    for (const { key, blob_id: blobId } of database
      .prepare("SELECT key, blob_id FROM _mf_entries WHERE expiration IS NULL ORDER BY key")
      .iterate())
      yield { key: String(key), bytes: readFileSync(join(stateDir, "v3", "kv", namespace, "blobs", String(blobId))) };
  } finally {
    database.close();
  }
}

/** Reads a tile from the logs' bucket. Returns null if the deployment has no bucket or no such tile. */
export const readTileBytes = (stateDir: string, bucket: string | null, key: string): Uint8Array | null => {
  const path = join(stateDir, "v3", "r2", tilesClass, `${computeObjectId(tilesClass, bucket ?? "")}.sqlite`);
  if (bucket === null || !existsSync(path)) return null;
  const database = openForReading(path);
  try {
    const row = database.prepare("SELECT blob_id FROM _mf_objects WHERE key = ?").get(key);
    return row === undefined ? null : readFileSync(join(stateDir, "v3", "r2", bucket, "blobs", String(row.blob_id)));
  } finally {
    database.close();
  }
};

/** Returns a function that stores a value in KV, and a function that closes the store. */
export const openTextStore = (stateDir: string, namespace: string) => {
  const path = getTextsPath(stateDir, namespace);
  mkdirSync(join(path, ".."), { recursive: true });
  const blobs = join(stateDir, "v3", "kv", namespace, "blobs");
  mkdirSync(blobs, { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(
    "CREATE TABLE IF NOT EXISTS _mf_entries (key TEXT PRIMARY KEY, blob_id TEXT NOT NULL, expiration INTEGER, metadata TEXT); CREATE INDEX IF NOT EXISTS _mf_entries_expiration_idx ON _mf_entries(expiration)",
  );
  const insert = database.prepare("INSERT OR REPLACE INTO _mf_entries (key, blob_id) VALUES (?, ?)");
  return {
    write: ({ key, bytes }: StoredText): void => {
      const blobId = `${sha256Hex(key)}${"0".repeat(16)}`;
      writeFileSync(join(blobs, blobId), bytes);
      insert.run(key, blobId);
    },
    close: (): void => database.close(),
  };
};

/**
 * Computes a value from the sizes and modification times of the service's files. It changes whenever stored data changes, except rate
 * limits and the states of webhook hosts.
 */
export const computeStateSignature = (stateDir: string): string => {
  const root = join(stateDir, "v3");
  const files = (readdirSync(root, { recursive: true, encoding: "utf8" }) as string[])
    .filter((path) => !path.endsWith("-shm") && !path.includes("svc-RateLimiter") && !path.includes("svc-DestinationHost"))
    .sort()
    .map((path) => ({ path, stats: statSync(join(root, path)) }))
    .filter(({ stats }) => stats.isFile() && stats.size > 0);
  return sha256Hex(files.map(({ path, stats }) => `${path} ${stats.size} ${stats.mtimeMs}`).join("\n"));
};
