// Cheap calls to the stores for the health check. They throw if the store is unavailable.
import { sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { translateFaults } from "./faults.ts";
import { businesses } from "./schema.ts";

/** Returns true if the database responds. Reads a table, so that a database without our schema counts as unhealthy. */
export const isDatabaseHealthy = async (db: Database): Promise<boolean> => {
  await db.select({ id: businesses.id }).from(businesses).limit(1);
  return true;
};

export const getShardBytes = async (db: Database): Promise<number> => {
  const { meta } = await db.run(sql`select 1`);
  return meta.size_after;
};

/** Reads a key that does not exist. Returns true if KV responds. */
export const isKeyValueHealthy = async (kv: KVNamespace): Promise<boolean> => (await translateFaults(() => kv.get("health"))) === null;
