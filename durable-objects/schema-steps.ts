// Schema migrations of Durable Objects. Each object has its own database, which is migrated when the object starts.

/**
 * Step n migrates from version n to version n + 1. Add new steps at the end. A step must only add to the schema, so that the previous
 * deployment still works with it.
 */
export type SchemaSteps = readonly string[];

/** Stores the version, because Durable Objects cannot use PRAGMA user_version. */
const versionTable = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT;";

/**
 * Runs the steps that this database still needs, in one transaction. Does nothing if a later deployment has already migrated the database.
 * Call this function in the constructor, or before the first use of the tables, so that it runs before any request reads them.
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
