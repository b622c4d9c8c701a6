// The smallest question to each store, for the health check. A store that cannot answer throws.
import { sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { translateFaults } from "./faults.ts";
import { businesses } from "./schema.ts";

/** Asks a table, not just the engine: a database without its migrations is not healthy. */
export const isDatabaseHealthy = async (db: Database): Promise<boolean> => {
  await db.select({ id: businesses.id }).from(businesses).limit(1);
  return true;
};

/** What D1 allows a database. */
export const maxShardBytes = 10_000_000_000;

/** How large the database is: every answer of D1 says it. */
export const getShardBytes = async (db: Database): Promise<number> => {
  const { meta } = await db.run(sql`select 1`);
  return meta.size_after;
};

/** A key that nobody writes: the answer is that it is not there. */
export const isKeyValueHealthy = async (kv: KVNamespace): Promise<boolean> => (await translateFaults(() => kv.get("health"))) === null;
