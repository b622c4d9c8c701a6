// Finds the database of a record. Every id, key, token and client id contains the code of its shard, so no look-up is needed. This is the
// only place that turns a code into a database.
import { firstShard, shardOfId, type ShardId } from "../core/ids.ts";
import { openDatabase, type QueryCounter, type Database } from "./database.ts";

export interface Shards {
  /** The database of an id or secret. An unknown shard code gives the first shard, where no such id exists. */
  readonly forId: (id: string) => Database;
  /** Throws for a shard without a database, so that data recorded for it is not mistaken for missing. */
  readonly get: (shard: ShardId) => Database;
  readonly all: () => readonly (readonly [ShardId, Database])[];
  /** The same databases, which report the number of queries to `count`. */
  readonly withQueryCounter: (count: QueryCounter) => Shards;
}

const bindingPattern = /^DB(?:_([0-9a-hjkmnp-tv-z]{2}))?$/;

type ShardBindings = readonly (readonly [ShardId, D1Database])[];

const buildShards = (bindings: ShardBindings, maxMs: number | undefined, count: QueryCounter): Shards => {
  const databases = new Map(bindings.map(([shard, binding]) => [shard, openDatabase(binding, maxMs, count)] as const));
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

/** Opens all shards of an environment: binding `DB` is shard `00`, and `DB_xy` is shard `xy`. */
export const openShards = (env: object, maxMs?: number, count: QueryCounter = () => {}): Shards => {
  const bindings = Object.entries(env).flatMap(([name, binding]) => {
    const match = bindingPattern.exec(name);
    return match === null ? [] : [[(match[1] ?? firstShard) as ShardId, binding as D1Database] as const];
  });
  return buildShards(bindings, maxMs, count);
};
