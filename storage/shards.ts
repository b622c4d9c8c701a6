// Finds a record's database. Every ID, key, token and client ID contains its shard code, so no lookup is needed. This is the only place
// that maps a code to a database.
import { firstShard, shardOfId, type ShardId } from "../core/ids.ts";
import { openDatabase, type Database, type DatabaseCaller, type QueryCounter } from "./database.ts";
import { callWithSimulatedFaults } from "./simulated-faults.ts";

export interface Shards {
  /** Returns the database for an ID or secret. For an unknown shard code, returns the first shard, where no such ID exists. */
  readonly forId: (id: string) => Database;
  /** Returns the database of a shard. Throws if the shard has no database, so that its records are not mistaken for missing ones. */
  readonly get: (shard: ShardId) => Database;
  readonly all: () => readonly (readonly [ShardId, Database])[];
  /** Returns the same databases, but they report the number of queries to `count`. */
  readonly withQueryCounter: (count: QueryCounter) => Shards;
}

const bindingPattern = /^DB(?:_([0-9a-hjkmnp-tv-z]{2}))?$/;

interface ShardBinding {
  readonly shard: ShardId;
  readonly binding: D1Database;
  /** Replaces the calls to the database in order to simulate faults in development. */
  readonly makeCall?: DatabaseCaller;
}

const buildShards = (bindings: readonly ShardBinding[], maxMs: number | undefined, count: QueryCounter): Shards => {
  const databases = new Map(
    bindings.map(({ shard, binding, makeCall }) => [shard, openDatabase(binding, maxMs, count, makeCall)] as const),
  );
  const at = (shard: ShardId): Database => {
    const db = databases.get(shard);
    if (db === undefined) throw new Error("shards: no database is bound for this shard");
    return db;
  };
  return {
    forId: (id) => databases.get(shardOfId(id)) ?? at(firstShard),
    get: at,
    all: () => [...databases],
    withQueryCounter: (also) =>
      buildShards(bindings, maxMs, (queries) => {
        count(queries);
        also(queries);
      }),
  };
};

/**
 * Opens all shards of an environment: binding `DB` is shard `00`, and `DB_xy` is shard `xy`. In development, their calls go through
 * simulated-faults.ts.
 */
export const openShards = (env: object, maxMs?: number, count: QueryCounter = () => {}): Shards => {
  const isDevelopment = (env as { readonly ENVIRONMENT?: unknown }).ENVIRONMENT === "development";
  const bindings = Object.entries(env).flatMap(([name, binding]): ShardBinding[] => {
    const match = bindingPattern.exec(name);
    if (match === null) return [];
    const shard = (match[1] ?? firstShard) as ShardId;
    const makeCall: DatabaseCaller = (call) => callWithSimulatedFaults(shard, call);
    return [{ shard, binding: binding as D1Database, ...(isDevelopment && { makeCall }) }];
  });
  return buildShards(bindings, maxMs, count);
};
