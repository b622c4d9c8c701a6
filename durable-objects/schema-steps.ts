// Schema migrations of Durable Objects. Each object has its own database and can stay inactive over many deployments, so it is migrated
// when it starts.

/**
 * Step n migrates from version n to version n + 1. New steps go at the end and must only add to the schema, so that the previous deployment
 * can run on the result.
 */
export type SchemaSteps = readonly string[];

/** The table stores the version, because Durable Objects cannot use PRAGMA user_version. */
const versionTable = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT;";

/**
 * Runs all steps that this database does not have yet, in one transaction. Does nothing to a database that a later deployment wrote. Call
 * it in the constructor: it is synchronous, so no request can run before it.
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
