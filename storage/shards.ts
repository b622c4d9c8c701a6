// Finds the database of a record without a query. Each ID, key and token contains the code of its shard.
import { firstShard, shardOfId, type ShardId } from "../core/ids.ts";
import { openDatabase, type Database, type DatabaseOptions, type QueryCounter, type QueryRunner } from "./database.ts";
import { callWithSimulatedFaults } from "./simulated-faults.ts";

export interface Shards {
  /**
   * Returns the database for an ID, key or token. If the shard is unknown, returns the first shard's database, which has no such record.
   */
  readonly forId: (id: string) => Database;
  /** Returns the database of a shard. Throws if there is none. Otherwise, the shard's records would seem not to exist. */
  readonly get: (shard: ShardId) => Database;
  /** Returns true if the shard in an ID has a database. An ID from a request can contain any shard. */
  readonly hasShardOf: (id: string) => boolean;
  readonly all: () => readonly (readonly [ShardId, Database])[];
  /** Returns the same databases. Before each call to a database, they call `count` with the number of queries. */
  readonly withQueryCounter: (count: QueryCounter) => Shards;
  /** Returns the same databases, but each call times out after `maxMs`. */
  readonly withTimeout: (maxMs: number) => Shards;
}

const bindingPattern = /^DB(?:_([0-9a-hjkmnp-tv-z]{2}))?$/;

interface ShardBinding extends Pick<DatabaseOptions, "makeCall" | "trace"> {
  readonly shard: ShardId;
  readonly binding: D1Database;
}

const buildShards = (bindings: readonly ShardBinding[], maxMs: number | undefined, count: QueryCounter): Shards => {
  const databases = new Map(
    bindings.map(({ shard, binding, ...options }) => [shard, openDatabase(binding, { ...options, maxMs, count })] as const),
  );
  const at = (shard: ShardId): Database => {
    const db = databases.get(shard);
    if (db === undefined) throw new Error("shards: no database is bound for this shard");
    return db;
  };
  return {
    forId: (id) => databases.get(shardOfId(id)) ?? at(firstShard),
    get: at,
    hasShardOf: (id) => databases.has(shardOfId(id)),
    all: () => [...databases],
    withQueryCounter: (also) =>
      buildShards(bindings, maxMs, (queries) => {
        count(queries);
        also(queries);
      }),
    withTimeout: (ms) => buildShards(bindings, ms, count),
  };
};

/** Returns the function that measures the calls to a shard's database, or undefined to measure none. */
export type TraceShard = (shard: ShardId) => QueryRunner | undefined;

/** Opens all shards of a Worker's environment: the binding `DB` is shard `00`, and `DB_xy` is shard `xy`. */
export const openShards = (env: object, maxMs?: number, traceShard: TraceShard = () => undefined): Shards => {
  const isDevelopment = (env as { readonly ENVIRONMENT?: unknown }).ENVIRONMENT === "development";
  const bindings = Object.entries(env).flatMap(([name, binding]): ShardBinding[] => {
    const match = bindingPattern.exec(name);
    if (match === null) return [];
    const shard = (match[1] ?? firstShard) as ShardId;
    const makeCall = isDevelopment ? <T>(call: () => Promise<T>) => callWithSimulatedFaults(shard, call) : undefined;
    return [{ shard, binding: binding as D1Database, makeCall, trace: traceShard(shard) }];
  });
  return buildShards(bindings, maxMs, () => {});
};
