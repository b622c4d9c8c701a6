// How the tables of an object get from one version of this code to the next: numbered steps, each run once in each object.
// An object has a database of its own and may sleep through many deployments, so it catches up when it starts.

/** Step n leads from version n to version n + 1. Steps are only appended and only add: an earlier deployment can run on their result. */
export type SchemaSteps = readonly string[];

/** PRAGMA user_version, which is made for this, is not allowed in an object. */
const versionTable = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT;";

/**
 * Runs the steps that this store has not had, all or none. To be called where the object is constructed: nothing awaits, so no
 * request comes in between. A store that a later deployment has written is left as it is.
 */
export const migrateSchema = (storage: DurableObjectStorage, steps: SchemaSteps): void => {
  const { sql } = storage;
  storage.transactionSync(() => {
    sql.exec(versionTable);
    const version = sql.exec<{ version: number }>("SELECT version FROM schema_version").toArray()[0]?.version;
    if (version !== undefined && version >= steps.length) return;
    for (const step of steps.slice(version ?? 0)) sql.exec(step);
    if (version === undefined) sql.exec("INSERT INTO schema_version (version) VALUES (?)", steps.length);
    else sql.exec("UPDATE schema_version SET version = ?", steps.length);
  });
};
