// Finds the files where the local runtime stores the databases of the shards. The runtime does not document these paths, so a test checks
// them against the pinned version.
import { createHash, createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { getShardId, type ShardId } from "../core/ids.ts";

const databaseClass = "miniflare-D1DatabaseObject";

/** Returns the ID of the object with this name. The ID is also the name of the object's file. */
export const computeObjectId = (className: string, name: string): string => {
  const text = new TextEncoder();
  const key = createHash("sha256").update(text.encode(className)).digest();
  const mac = (bytes: Uint8Array) => createHmac("sha256", key).update(bytes).digest().subarray(0, 16);
  const prefix = mac(text.encode(name));
  return Buffer.concat([prefix, mac(prefix)]).toString("hex");
};

/** Returns the path of a shard's database file. `id` is the database's ID in the configuration. */
export const getDatabasePath = (stateDir: string, id: string): string =>
  join(stateDir, "v3", "d1", databaseClass, `${computeObjectId(databaseClass, id)}.sqlite`);

/** Returns the local database ID of a shard other than `00`, whether or not wrangler.toml binds the shard. */
export const getLocalDatabaseId = (shard: string): string => `svc-shard-${shard}`;

export const maxLocalShards = 32; // each shard takes memory and slows down startup

/** The shards that the setting SHARDS can add. */
export const addableShards: readonly ShardId[] = Array.from({ length: maxLocalShards - 1 }, (_, at) => getShardId(at + 1));

/** Lists the shards that the setting SHARDS added to this state folder. */
export const listStoredShards = (stateDir: string): readonly ShardId[] =>
  addableShards.filter((shard) => existsSync(getDatabasePath(stateDir, getLocalDatabaseId(shard))));
