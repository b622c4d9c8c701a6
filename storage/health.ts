// The smallest question to each store, for the health check. A store that cannot answer throws.

/** Asks a table, not just the engine: a database without its migrations is not healthy. */
export const databaseAnswers = async (db: D1Database): Promise<boolean> =>
  (await db.prepare("SELECT 1 AS one FROM businesses LIMIT 1").all()).success;

/** A key that nobody writes: the answer is that it is not there. */
export const keyValueAnswers = async (kv: KVNamespace): Promise<boolean> => (await kv.get("health")) === null;
